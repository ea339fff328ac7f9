#include "bench/launcher.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/socket.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"
#include "bench/worker.hpp"

namespace tutti::harness {

namespace {

using std::chrono::milliseconds;

constexpr std::array<std::string_view, 4> kNames = {"local", "mpirun.openmpi", "mpirun.mpich", "srun"};

// An mpirun asked to end clears up what its library has left in shared memory and temporary folders.
constexpr milliseconds kGrace{700};

// In front of the worker's program.
std::vector<std::string> words_of(const LaunchRequest& request) {
  const std::string count = std::to_string(request.num_ranks);
  switch (request.launcher) {
    case Launcher::local: return {};
    case Launcher::openmpi: {
      std::vector<std::string> words = {"mpirun.openmpi", "-n", count};
      if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
      if (request.shares_cores) words.insert(words.end(), {"--map-by", ":OVERSUBSCRIBE"});
      return words;
    }
    case Launcher::mpich: return {"mpirun.mpich", "-n", count};
    case Launcher::srun: return {"srun", "-n", count};
  }
  return {};
}

// What torchrun's children find, so that any program that is started by it can be swept.
std::vector<std::string> variables_of_rank(int rank, int num_ranks) {
  return {fmt::format("{}={}", kRankVariable, rank),
          fmt::format("{}={}", kNumRanksVariable, num_ranks),
          fmt::format("RANK={}", rank),
          fmt::format("WORLD_SIZE={}", num_ranks),
          fmt::format("LOCAL_RANK={}", rank),
          fmt::format("LOCAL_WORLD_SIZE={}", num_ranks)};
}

std::string in_words(const std::string& name, int status) {
  if (WIFSIGNALED(status)) return fmt::format("{} was killed by signal {}", name, WTERMSIG(status));
  return fmt::format("{} ended with status {}", name, WEXITSTATUS(status));
}

// What its end is told of: an mpirun, a program, or a rank.
std::string name_of_child(const LaunchRequest& request, const std::string& program, int rank) {
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

// The processes of this user whose environment holds the entry.
std::vector<pid_t> processes_with(const std::string& entry) {
  std::vector<pid_t> found;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* each = ::readdir(folder)) {
    pid_t pid = 0;
    const std::string_view name(each->d_name);
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid == ::getpid()) continue;
    const UniqueFd file(::open(fmt::format("/proc/{}/environ", pid).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) continue;
    std::string block;
    std::array<char, 8192> bytes{};
    for (ssize_t got = 0; (got = ::read(file.get(), bytes.data(), bytes.size())) > 0;)
      block.append(bytes.data(), static_cast<std::size_t>(got));
    if (block.find(entry) != std::string::npos) found.push_back(pid);
  }
  ::closedir(folder);
  return found;
}

}  // namespace

std::string_view name_of(Launcher launcher) { return kNames[static_cast<std::size_t>(launcher)]; }

std::optional<Launcher> launcher_from_name(std::string_view name) {
  for (std::size_t each = 0; each < kNames.size(); ++each)
    if (same_name(kNames[each], name)) return static_cast<Launcher>(each);
  return std::nullopt;
}

Status Processes::start(const LaunchRequest& request) {
  entry_ = fmt::format("{}={}", request.is_program ? kProgramVariable : kWorkerVariable, request.id);
  output_ = UniqueFd(::memfd_create("tutti-bench-output", MFD_CLOEXEC));
  if (request.is_program) errors_ = UniqueFd(::memfd_create("tutti-bench-errors", MFD_CLOEXEC));
  if (!output_.valid() || (request.is_program && !errors_.valid()))
    return Status::from_errno("cannot keep what processes write", errno);
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<int> cores = allowed_cores();
  const bool is_by_rank = request.launcher == Launcher::local && !request.is_program;
  const int direct = is_by_rank ? request.num_ranks : 1;
  for (int rank = 0; rank < direct; ++rank) {
    SpawnRequest spawning;
    spawning.command = words_of(request);
    spawning.command.insert(spawning.command.end(), request.program.begin(), request.program.end());
    spawning.environment = request.environment;
    spawning.environment.push_back(entry_);
    if (is_by_rank) {
      for (std::string& entry : variables_of_rank(rank, request.num_ranks))
        spawning.environment.push_back(std::move(entry));
      if (request.is_bound && !request.shares_cores && static_cast<std::size_t>(rank) < cores.size())
        spawning.core = cores[static_cast<std::size_t>(rank)];
    } else {
      spawning.death_signal = SIGTERM;
    }
    spawning.input = nothing.get();
    spawning.output = output_.get();
    spawning.error = request.is_program ? errors_.get() : output_.get();
    ::sigemptyset(&spawning.signal_mask);
    const Result<Spawned> spawned = spawn(spawning);
    if (!spawned.ok()) return spawned.status();
    if (spawned->refused != 0)
      return Status::from_errno(fmt::format("cannot run {}", in_quotes(spawning.command[0])), spawned->refused);
    children_.push_back({.pid = spawned->pid, .name = name_of_child(request, spawning.command[0], rank)});
  }
  return {};
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

void Processes::end() {
  if (children_.empty()) return;
  for (const Child& child : children_)
    if (!child.status) ::kill(child.pid, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  while (!have_ended() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(milliseconds(2));
  // What they have started may start more until it is killed itself.
  for (int turn = 0; turn < 3; ++turn) {
    for (const Child& child : children_)
      if (!child.status) ::kill(-child.pid, SIGKILL);
    const std::vector<pid_t> left = processes_with(entry_);
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    if (left.empty()) break;
    std::this_thread::sleep_for(milliseconds(2));
  }
  for (Child& child : children_)
    while (!child.status) {
      int status = 0;
      if (::waitpid(child.pid, &status, 0) >= 0 || errno != EINTR) child.status = status;
    }
  children_.clear();
}

}  // namespace tutti::harness
