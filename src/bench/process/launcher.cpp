// SPDX-License-Identifier: Apache-2.0
#include "bench/process/launcher.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/system/spawn.hpp"
#include "base/text.hpp"
#include "bench/axes/environment_axis.hpp"
#include "bench/process/launcher_variables.hpp"
#include "bench/process/process_search.hpp"

namespace tutti::harness {

namespace {

using std::chrono::milliseconds;

constexpr std::array<std::string_view, 4> kNames = {"local", "mpirun.openmpi", "mpirun.mpich", "srun"};

// An mpirun whose ranks were killed ends by itself, and clears up: in less than 0.1 s where it may run. Asked to end it
// takes as long; asked twice it ends without clearing up, and without a guard the kernel asks it when the runner dies,
// so that is kept for those that do not notice.
constexpr milliseconds kUntilAsked{400};
constexpr milliseconds kUntilKilled{750};
// It has its ranks on other hosts ended first.
constexpr milliseconds kUntilKilledOverHosts{4000};
// From then on: until what was killed is looked for no more.
constexpr milliseconds kUntilGone{200};
constexpr milliseconds kLauncherLook{5};

struct MpiRun {
  std::string_view path;  // where the build found it; may be empty
  std::string_view package;
};
MpiRun mpirun_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::openmpi: return {TUTTI_OPENMPI_MPIRUN, "openmpi-bin"};
    case Launcher::mpich: return {TUTTI_MPICH_MPIRUN, "mpich"};
    case Launcher::srun: return {"", "slurm-client"};
    case Launcher::local: return {};
  }
  return {};
}

bool is_runnable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

// The one that the build found, else the name, which PATH finds.
std::string program_of(Launcher launcher) {
  const std::string built(mpirun_of(launcher).path);
  return !built.empty() && is_runnable(built) ? built : std::string(name_of(launcher));
}

// "a:2,b:2", as all launchers take it.
std::string host_list(const std::vector<HostEntry>& entries) {
  std::string text;
  for (const HostEntry& entry : entries)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",",
                        entry.host.find(':') == std::string::npos ? entry.host : fmt::format("[{}]", entry.host),
                        entry.num_ranks);
  return text;
}

// The variables of the runner that libraries and their launchers read, those of `handed_on`, and the harness's own.
// Names alone: values that are secrets stand in no command line.
std::vector<std::string> names_for_hosts(const LaunchRequest& request) {
  constexpr auto kReadByLibraries = std::to_array<std::string_view>(
      {"BENCH_", "FI_", "GLOO_", "LD_LIBRARY_PATH=", "MPICH_", "MPIR_", "NCCL_", "OMP_NUM_THREADS=", "UCX_"});
  std::vector<std::string> names = request.handed_on;
  names.insert(names.end(), {std::string(kWorkerVariable), std::string(kLauncherVariable)});
  for (const std::string_view entry : request.environment)
    if (std::any_of(kReadByLibraries.begin(), kReadByLibraries.end(),
                    [&](std::string_view begin) { return entry.starts_with(begin); }) &&
        !entry.starts_with(kPaddingVariable))
      names.emplace_back(entry.substr(0, entry.find('=')));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// It takes a program without arguments. The usual ones of ssh only keep it from asking.
std::string program_of_agent(const OverHosts& hosts) { return hosts.agent.substr(0, hosts.agent.find(' ')); }

std::vector<std::string> words_of_tutti(const LaunchRequest& request) {
  const OverHosts& hosts = *request.hosts;
  std::vector<std::string> words = {hosts.launcher};
  words.insert(words.end(), {"launch", "--hosts", host_list(hosts.entries), "--agent", hosts.agent, "--bind", "none"});
  if (!hosts.address_given.empty()) words.insert(words.end(), {"--address", hosts.address_given});
  if (!hosts.tutti.empty()) words.insert(words.end(), {"--tutti", hosts.tutti});
  for (const std::string& name : names_for_hosts(request)) words.insert(words.end(), {"--env", name});
  words.emplace_back("--");
  return words;
}

// In front of the program. Workers bind themselves (cores.hpp), alike with all launchers.
std::vector<std::string> words_of(const LaunchRequest& request) {
  const std::string count = std::to_string(request.num_ranks);
  const OverHosts* const hosts = request.hosts ? &*request.hosts : nullptr;
  switch (request.launcher) {
    case Launcher::local: return hosts == nullptr ? std::vector<std::string>() : words_of_tutti(request);
    case Launcher::openmpi: {
      // It would wait a second for ranks that are dead to die.
      std::vector<std::string> words = {program_of(request.launcher), "-n", count, "--mca",
                                        "odls_base_sigkill_timeout",  "0"};
      if (hosts != nullptr) {
        words.insert(words.end(), {"--host", host_list(hosts->entries), "--map-by", "slot:OVERSUBSCRIBE"});
        // In an allocation it uses srun by itself.
        if (!hosts->by_slurm) words.insert(words.end(), {"--mca", "plm_rsh_agent", hosts->agent});
        // It hands its own variables on by itself.
        for (const std::string& name : names_for_hosts(request))
          if (!name.starts_with("OMPI_MCA_")) words.insert(words.end(), {"-x", name});
      } else {
        words.insert(words.end(), {"--map-by", ":OVERSUBSCRIBE"});
      }
      if (!request.is_program) words.insert(words.end(), {"--bind-to", "none"});
      if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
      return words;
    }
    case Launcher::mpich: {
      std::vector<std::string> words = {program_of(request.launcher), "-n", count};
      // It hands the whole environment on.
      if (hosts != nullptr) {
        words.insert(words.end(), {"-hosts", host_list(hosts->entries), "-localhost", without_port(hosts->address)});
        if (hosts->by_slurm)
          words.insert(words.end(), {"-launcher", "slurm"});
        else
          words.insert(words.end(), {"-launcher", "ssh", "-launcher-exec", program_of_agent(*hosts)});
      }
      if (!request.is_program) words.insert(words.end(), {"-bind-to", "none"});
      return words;
    }
    case Launcher::srun: {
      std::vector<std::string> words = {program_of(request.launcher), "-n", count};
      if (!request.is_program) words.emplace_back("--cpu-bind=none");
      return words;
    }
  }
  return {};
}

// A port that is free now, of five digits always; torchrun finds one in the same way.
Result<std::uint16_t> free_port() {
  constexpr std::uint16_t kLeast = 10'000;
  for (int turn = 0; turn < 16; ++turn) {
    const Result<Listener> listener = listen_at({.port = 0, .bytes = {127, 0, 0, 1}});
    if (!listener.ok()) return listener.status();
    if (listener->address.port >= kLeast) return listener->address.port;
  }
  return Status(Code::system, "the system gives no port of five digits");
}

// What torchrun's children find, so that any program that is started by it can be swept.
void set_place(std::vector<std::string>& environment, int rank, int num_ranks, std::uint16_t port) {
  for (const std::string_view name : {kRankVariable, std::string_view("RANK"), std::string_view("LOCAL_RANK")})
    set_variable(environment, name, std::to_string(rank));
  for (const std::string_view name :
       {kNumRanksVariable, std::string_view("WORLD_SIZE"), std::string_view("LOCAL_WORLD_SIZE")})
    set_variable(environment, name, std::to_string(num_ranks));
  set_variable(environment, kMasterAddressVariable, "127.0.0.1");
  set_variable(environment, kMasterPortVariable, std::to_string(port));
}

std::string in_words(const std::string& name, int status) {
  if (WIFSIGNALED(status)) return fmt::format("{} was killed by signal {}", name, WTERMSIG(status));
  return fmt::format("{} ended with status {}", name, WEXITSTATUS(status));
}

// To workers.
std::string_view launcher_told(const LaunchRequest& request) {
  return request.hosts && request.launcher == Launcher::local ? kLaunchOverHosts : name_of(request.launcher);
}

// What its end is told of: an mpirun, a program, or a rank.
std::string name_of_child(const LaunchRequest& request, const std::string& program, int rank) {
  if (request.hosts && request.launcher == Launcher::local) return "tutti launch";
  if (request.launcher == Launcher::local && !request.is_program) return fmt::format("rank {}", rank);
  return program.substr(program.rfind('/') + 1);
}

std::uint64_t size_of(const UniqueFd& file) {
  const off_t size = file.valid() ? ::lseek(file.get(), 0, SEEK_END) : 0;
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

std::string text_of(const UniqueFd& file, std::uint64_t begin = 0) {
  const std::uint64_t size = size_of(file);
  std::string text(size - std::min(size, begin), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got =
        ::pread(file.get(), text.data() + filled, text.size() - filled, static_cast<off_t>(begin + filled));
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

// The last lines with something in them.
std::vector<std::string> last_lines(const UniqueFd& file, std::size_t most) {
  constexpr std::uint64_t kMostBytes = 2000;
  const std::uint64_t size = size_of(file);
  const std::string text = text_of(file, size > kMostBytes ? size - kMostBytes : 0);
  std::vector<std::string_view> lines = split(text, '\n');
  std::erase_if(lines, [](std::string_view line) { return line.empty(); });
  std::vector<std::string> last;
  for (std::size_t line = lines.size() > most ? lines.size() - most : 0; line < lines.size(); ++line)
    last.push_back(printable(lines[line]));
  return last;
}

}  // namespace

std::string_view name_of(Launcher launcher) { return kNames[static_cast<std::size_t>(launcher)]; }

std::optional<Launcher> launcher_from_name(std::string_view name) {
  for (std::size_t each = 0; each < kNames.size(); ++each)
    if (same_name(kNames[each], name)) return static_cast<Launcher>(each);
  return std::nullopt;
}

Status find_launcher(Launcher launcher) {
  if (launcher == Launcher::local) return {};
  const std::string program = program_of(launcher);
  if (program.find('/') != std::string::npos) return {};
  const char* folders = std::getenv("PATH");
  for (const std::string_view folder : split(folders == nullptr ? "" : folders, ':'))
    if (is_runnable(fmt::format("{}/{}", folder, program))) return {};
  return {Code::unsupported, fmt::format("there is no {} on PATH; it comes with Debian's {} (install that)", program,
                                         mpirun_of(launcher).package)};
}

Status Processes::start(const LaunchRequest& request) {
  entry_ = fmt::format("{}={}", request.is_program ? kProgramVariable : kWorkerVariable, request.id);
  output_ = UniqueFd(::memfd_create("tutti-bench-output", MFD_CLOEXEC));
  if (request.is_program) errors_ = UniqueFd(::memfd_create("tutti-bench-errors", MFD_CLOEXEC));
  if (!output_.valid() || (request.is_program && !errors_.valid()))
    return Status::from_errno("cannot keep what processes write", errno);
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  is_over_hosts_ = request.hosts.has_value();
  const bool is_by_rank = request.launcher == Launcher::local && !request.is_program && !is_over_hosts_;
  // A program may have an mpirun of its own.
  may_have_sessions_ = request.launcher == Launcher::openmpi || request.is_program;
  start_guard(request);
  const int direct = is_by_rank ? request.num_ranks : 1;
  const Result<std::uint16_t> port = is_by_rank ? free_port() : Result<std::uint16_t>(std::uint16_t{0});
  if (!port.ok()) return port.status();
  for (int rank = 0; rank < direct; ++rank) {
    SpawnRequest spawning;
    spawning.command = words_of(request);
    spawning.command.insert(spawning.command.end(), request.program.begin(), request.program.end());
    spawning.environment = request.environment;
    set_variable(spawning.environment, request.is_program ? kProgramVariable : kWorkerVariable, request.id);
    // Several groups run at once. An mpirun does not ask for overlap, so its steps would wait for another group's.
    if (request.hosts && request.hosts->by_slurm) set_variable(spawning.environment, "SLURM_OVERLAP", "1");
    if (!request.is_program) set_variable(spawning.environment, kLauncherVariable, launcher_told(request));
    if (is_by_rank) {
      set_place(spawning.environment, rank, request.num_ranks, *port);
    } else {
      // Where there is a guard, workers have time to clear up when the runner dies. An Open MPI that is told to end
      // kills them at once.
      const bool has_guard = guard_.announcements() >= 0;
      spawning.death_signal = has_guard ? 0 : SIGTERM;
    }
    spawning.input = nothing.get();
    spawning.output = output_.get();
    spawning.error = request.is_program ? errors_.get() : output_.get();
    spawning.announced_to = guard_.announcements();
    ::sigemptyset(&spawning.signal_mask);
    const Result<Spawned> spawned = spawn(spawning);
    if (!spawned.ok()) return spawned.status();
    if (spawned->refused != 0)
      return Status::from_errno(fmt::format("cannot run {}", in_quotes(spawning.command[0])), spawned->refused);
    children_.push_back({.pid = spawned->pid, .name = name_of_child(request, spawning.command[0], rank)});
    if (may_have_sessions_) {
      const std::vector<std::string_view> variables(request.environment.begin(), request.environment.end());
      for (std::string& session : sessions_of_launcher(spawned->pid, variables))
        sessions_.push_back(std::move(session));
    }
  }
  return {};
}

// Workers see that the runner has gone, and end and clear up by themselves; a program does not, and neither does an
// mpirun that is still beginning.
void Processes::start_guard(const LaunchRequest& request) {
  if (!may_have_sessions_) return;
  const bool has_launcher = request.launcher != Launcher::local;
  guard_.start({.entry = entry_,
                .environment = request.environment,
                .ranks_are_left = request.is_program ? milliseconds(0) : kUntilKilled,
                .others_are_left = has_launcher ? kUntilKilled : milliseconds(0)});
}

void Processes::reap() {
  for (Child& child : children_) {
    int status = 0;
    if (!child.status && ::waitpid(child.pid, &status, WNOHANG) == child.pid) child.status = status;
  }
}

std::optional<std::string> Processes::failure() {
  reap();
  for (const Child& child : children_)
    if (child.status && *child.status != 0) return in_words(child.name, *child.status);
  return std::nullopt;
}

bool Processes::have_ended() {
  reap();
  return std::all_of(children_.begin(), children_.end(), [](const Child& child) { return child.status.has_value(); });
}

void Processes::wait_for_end(milliseconds most) {
  std::vector<UniqueFd> descriptors;
  std::vector<pollfd> waiting;
  for (const Child& child : children_) {
    if (child.status) continue;
    descriptors.push_back(open_pidfd(child.pid));
    waiting.push_back({descriptors.back().get(), POLLIN, 0});
  }
  if (!waiting.empty()) ::poll(waiting.data(), waiting.size(), static_cast<int>(most.count()));
}

std::string Processes::last_words() const {
  constexpr std::size_t kMostLines = 6;
  std::vector<std::string> lines = last_lines(output_, kMostLines);
  for (std::string& line : last_lines(errors_, kMostLines)) lines.push_back(std::move(line));
  return fmt::format("{}", fmt::join(lines, " | "));
}

std::string Processes::output() const { return text_of(output_); }
std::string Processes::errors() const { return text_of(errors_); }
std::uint64_t Processes::num_written() const { return size_of(output_) + size_of(errors_); }

void Processes::signal_children(int signal, bool whole_groups) const {
  for (const Child& child : children_)
    if (!child.status) ::kill(whole_groups ? -child.pid : child.pid, signal);
}

void Processes::wait_for_children() {
  for (Child& child : children_)
    while (!child.status) {
      int status = 0;
      if (::waitpid(child.pid, &status, 0) >= 0 || errno != EINTR) child.status = status;
    }
  children_.clear();
}

void Processes::end_all(std::vector<Processes*> groups) {
  std::erase_if(groups, [](const Processes* group) { return group->children_.empty(); });
  if (groups.empty()) return;
  std::vector<std::string> entries;
  entries.reserve(groups.size());
  for (const Processes* group : groups) entries.push_back(group->entry_);
  Leftovers leftovers;
  for (const Processes* group : groups) leftovers.note_sessions(group->sessions_);
  const bool any_over_hosts =
      std::any_of(groups.begin(), groups.end(), [](const Processes* group) { return group->is_over_hosts_; });
  const auto begin = Clock::now();
  std::vector<bool> had_ranks(groups.size());
  std::vector<bool> is_asked(groups.size());
  while (true) {
    for (FoundProcess& process : processes_with(entries)) {
      if (!groups[process.entry]->may_have_sessions_) process.sessions.clear();
      if (!process.is_rank) {
        leftovers.note_sessions(process.sessions);
        continue;
      }
      leftovers.kill(process);
      had_ranks[process.entry] = true;
    }
    const auto spent = Clock::now() - begin;
    const milliseconds until_killed = any_over_hosts ? kUntilKilledOverHosts : kUntilKilled;
    const auto have_ended =
        std::count_if(groups.begin(), groups.end(), [](Processes* each) { return each->have_ended(); });
    if (have_ended == std::ssize(groups) || spent > until_killed) break;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      if (is_asked[group] || (spent <= kUntilAsked && had_ranks[group])) continue;
      groups[group]->signal_children(SIGTERM, false);
      is_asked[group] = true;
    }
    std::this_thread::sleep_for(kLauncherLook);
  }
  // What they have started may start more until it is killed itself, and who is killed may need a core to die.
  for (const auto deadline = Clock::now() + kUntilGone;;) {
    for (const Processes* group : groups) group->signal_children(SIGKILL, true);
    const std::vector<FoundProcess> left = processes_with(entries);
    for (const FoundProcess& process : left) ::kill(process.pid, SIGKILL);
    if (left.empty() || Clock::now() > deadline) break;
    std::this_thread::sleep_for(milliseconds(2));
  }
  for (Processes* group : groups) group->wait_for_children();
  leftovers.remove();
  for (Processes* group : groups) group->guard_.end();
}

}  // namespace tutti::harness
