// SPDX-License-Identifier: Apache-2.0
#include "launch/process_group.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/system/spawn.hpp"
#include "base/system/unique_fd.hpp"
#include "base/text.hpp"
#include "runtime/bootstrap/gathering.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti::launch {

namespace {

constexpr int kNotRunnable = 126;
constexpr int kNotFound = 127;
constexpr int kSignalBase = 128;
constexpr std::size_t kMostLine = 64 << 10;  // a longer line is passed on in parts
constexpr int kInterruptsToKill = 3;

// The signals that the group handles, blocked while it lives and read from a descriptor.
class Signals {
 public:
  Signals() {
    sigset_t taken;
    sigemptyset(&taken);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&taken, signal);
    // Reading a terminal in the background, and writing to a rank that is gone, are errors then and no more.
    sigset_t blocked = taken;
    for (const int signal : {SIGTTIN, SIGPIPE}) sigaddset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
    fd_ = UniqueFd(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    // What came for the group is dealt with, and must not reach the program afterwards.
    while (take() != 0) continue;
    sigset_t side_effects;
    sigemptyset(&side_effects);
    for (const int signal : {SIGTTIN, SIGPIPE}) sigaddset(&side_effects, signal);
    const timespec at_once{};
    while (sigtimedwait(&side_effects, nullptr, &at_once) > 0) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const sigset_t& before() const { return before_; }
  // Whether a write of this process has found nobody to read it.
  [[nodiscard]] static bool has_broken_pipe() {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
  }
  // The next signal that came, or 0.
  [[nodiscard]] int take() const {
    signalfd_siginfo info{};
    return read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Status::from_errno("cannot make a pipe", errno);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// One stream of one rank, passed on line by line.
struct TaggedStream {
  UniqueFd fd;
  int rank = 0;
  std::ostream* to = nullptr;
  std::string line;

  // What has come, but no more than `kMostAtOnce`: who never stops writing does not keep the launcher from everything
  // else. At the end of the stream also a last line that nobody ended.
  void pump() {
    std::array<char, kMostAtOnce> bytes{};
    const ssize_t got = read(fd.get(), bytes.data(), bytes.size());
    if (got > 0) {
      take({bytes.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      finish();
    }
    to->flush();
  }
  // All that was there when nobody was left to write; also where a process that a rank has left behind writes on.
  void drain() {
    const int room = fd.valid() ? fcntl(fd.get(), F_GETPIPE_SZ) : 0;
    for (int taken = 0; fd.valid() && taken <= room; taken += kMostAtOnce) pump();
    if (fd.valid()) finish();
  }

 private:
  static constexpr int kMostAtOnce = 65536;

  void finish() {
    if (!line.empty()) emit();
    fd.reset();
  }
  void take(std::string_view text) {
    for (const char c : text) {
      if (c == '\n' || line.size() >= kMostLine) emit();
      if (c != '\n') line += c;
    }
  }
  void emit() {
    *to << fmt::format("[{}] {}\n", rank, line);
    line.clear();
  }
};

// Standard input for rank 0 where it is a terminal, which only the launcher's own process group may read.
struct InputPump {
  UniqueFd writer;
  std::string pending;

  [[nodiscard]] bool wants_input() const { return writer.valid() && pending.empty(); }
  void read_some() {
    std::array<char, 4096> bytes{};
    const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got > 0) {
      pending.assign(bytes.data(), static_cast<std::size_t>(got));
      write_some();
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      writer.reset();
    }
  }
  void write_some() {
    const ssize_t put = write(writer.get(), pending.data(), pending.size());
    if (put > 0) pending.erase(0, static_cast<std::size_t>(put));
    if (put < 0 && errno != EINTR && errno != EAGAIN) writer.reset();
  }
};

class Group {
 public:
  Group(const GroupOptions& options, std::ostream& out, std::ostream& error)
      : options_(options), out_(out), error_(error) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  Result<int> run();

 private:
  struct Process {
    pid_t pid = 0;
    bool ended = false;  // it stays a zombie to the end, so that its pid and group are nobody else's
  };
  // How the group is brought to an end, one step after the other.
  enum class Ending { none, waiting, terminated, killed };

  Status start();
  Status start_rank(int rank, const UniqueId& id, const std::vector<int>& cores, Spawned& spawned);
  [[nodiscard]] std::vector<std::string> environment_of(int rank, const UniqueId& id, int core) const;
  Status open_streams(int rank, SpawnRequest& request, std::vector<UniqueFd>& ends);
  void wait_once();
  void obey_signals();
  void await_heed();
  void note_ends();
  void note_end(int rank, const siginfo_t& how);
  void escalate();
  void note_lost_reader();
  void signal_all(int signal) const;
  [[nodiscard]] std::vector<int> running() const;

  const GroupOptions& options_;
  std::ostream& out_;
  std::ostream& error_;
  Signals signals_;
  std::unique_ptr<RendezvousServer> server_;
  std::vector<Process> processes_;
  std::vector<TaggedStream> streams_;
  InputPump input_;
  int exit_code_ = 0;
  int interrupts_ = 0;
  Ending ending_ = Ending::none;
  std::optional<Clock::time_point> next_step_;  // of the ending, or the timeout
};

Result<int> Group::run() {
  TUTTI_TRY(start());
  while (exit_code_ != kNotFound && exit_code_ != kNotRunnable && !running().empty()) wait_once();
  for (TaggedStream& stream : streams_) stream.drain();
  return exit_code_;
}

Group::~Group() {
  // What failing ranks have started goes with them. A rank's zombie keeps its group's number from being given away.
  if (exit_code_ != 0 || !running().empty()) signal_all(SIGKILL);
  for (const Process& process : processes_) {
    while (waitpid(process.pid, nullptr, 0) < 0 && errno == EINTR) continue;
  }
}

Status Group::start() {
  TUTTI_TRY_ASSIGN(server_, RendezvousServer::start());
  const std::vector<int> cores = options_.bind_to_cores ? allowed_cores() : std::vector<int>();
  if (options_.timeout > Nanos()) next_step_ = Clock::now() + to_chrono(options_.timeout);
  for (int rank = 0; rank < options_.num_ranks; ++rank) {
    Spawned spawned;
    TUTTI_TRY(start_rank(rank, server_->id(), cores, spawned));
    if (spawned.refused != 0) {
      exit_code_ = spawned.refused == ENOENT ? kNotFound : kNotRunnable;
      const std::string what = fmt::format("tutti launch: cannot run {}", in_quotes(options_.command.front()));
      error_ << Status::from_errno(what, spawned.refused).message() << '\n';
      return {};
    }
    processes_.push_back({spawned.pid, false});
  }
  return {};
}

Status Group::start_rank(int rank, const UniqueId& id, const std::vector<int>& cores, Spawned& spawned) {
  SpawnRequest request;
  request.command = options_.command;
  if (!cores.empty()) request.core = cores[static_cast<std::size_t>(rank) % cores.size()];
  request.environment = environment_of(rank, id, request.core.value_or(-1));
  request.signal_mask = signals_.before();
  std::vector<UniqueFd> ends;  // the child's, closed here once it runs
  TUTTI_TRY(open_streams(rank, request, ends));
  Result<Spawned> result = spawn(request);
  if (!result.ok()) return result.status().with_context(fmt::format("cannot start rank {}", rank));
  spawned = *result;
  return {};
}

std::vector<std::string> Group::environment_of(int rank, const UniqueId& id, int core) const {
  Environment environment = options_.environment;
  environment.set("TUTTI_RANK", fmt::format("{}", rank));
  environment.set("TUTTI_NUM_RANKS", fmt::format("{}", options_.num_ranks));
  environment.set("TUTTI_UNIQUE_ID", id.to_text());
  environment.set("TUTTI_LOCAL_CORE", fmt::format("{}", core));
  std::vector<std::string> lines;
  for (const std::string& name : environment.names())
    lines.push_back(name + "=" + environment.lookup(name).value_or(""));
  return lines;
}

Status Group::open_streams(int rank, SpawnRequest& request, std::vector<UniqueFd>& ends) {
  if (rank == 0 && isatty(STDIN_FILENO) != 0) {
    TUTTI_TRY_ASSIGN(Pipe pipe, make_pipe());
    input_.writer = std::move(pipe.writer);
    fcntl(input_.writer.get(), F_SETFL, O_NONBLOCK);
    request.input = ends.emplace_back(std::move(pipe.reader)).get();
  } else if (rank != 0 || fcntl(STDIN_FILENO, F_GETFD) < 0) {
    UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!nothing.valid()) return Status::from_errno("cannot open /dev/null", errno);
    request.input = ends.emplace_back(std::move(nothing)).get();
  }
  if (!options_.tag) return {};
  for (const bool is_error : {false, true}) {
    TUTTI_TRY_ASSIGN(Pipe pipe, make_pipe());
    fcntl(pipe.reader.get(), F_SETFL, O_NONBLOCK);
    streams_.push_back({std::move(pipe.reader), rank, is_error ? &error_ : &out_, {}});
    (is_error ? request.error : request.output) = ends.emplace_back(std::move(pipe.writer)).get();
  }
  return {};
}

void Group::wait_once() {
  std::vector<pollfd> fds = {{signals_.fd(), POLLIN, 0},
                             {input_.wants_input() ? STDIN_FILENO : -1, POLLIN, 0},
                             {input_.pending.empty() ? -1 : input_.writer.get(), POLLOUT, 0}};
  const std::size_t first_stream = fds.size();
  for (const TaggedStream& stream : streams_) fds.push_back({stream.fd.get(), POLLIN, 0});
  if (poll(fds.data(), fds.size(), poll_timeout(next_step_, Clock::now())) < 0) return;  // EINTR
  if (fds[1].revents != 0) input_.read_some();
  if (fds[2].revents != 0) input_.write_some();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (fds[first_stream + i].revents != 0) streams_[i].pump();
  }
  note_lost_reader();
  if (fds[0].revents != 0) obey_signals();
  if (next_step_ && Clock::now() >= *next_step_ && !running().empty()) escalate();
}

void Group::obey_signals() {
  while (const int signal = signals_.take()) {
    if (signal == SIGCHLD) {
      note_ends();
    } else {
      // Who presses Ctrl-C a third time means it.
      signal_all(++interrupts_ >= kInterruptsToKill ? SIGKILL : signal);
      if (signal != SIGINT) await_heed();
    }
  }
}

// Of a signal that is to end the ranks: those that are stopped, and those that do not mind it, end too.
void Group::await_heed() {
  signal_all(SIGCONT);
  if (ending_ == Ending::terminated || ending_ == Ending::killed) return;
  ending_ = Ending::terminated;
  next_step_ = Clock::now() + to_chrono(options_.grace);
}

void Group::note_ends() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].ended) continue;
    siginfo_t how{};
    const auto pid = static_cast<id_t>(processes_[i].pid);
    if (waitid(P_PID, pid, &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid == 0) continue;
    processes_[i].ended = true;
    note_end(static_cast<int>(i), how);
  }
}

void Group::note_end(int rank, const siginfo_t& how) {
  const bool exited = how.si_code == CLD_EXITED;
  if ((exited && how.si_status == 0) || exit_code_ != 0) return;
  exit_code_ = exited ? how.si_status : kSignalBase + how.si_status;
  const std::string who = fmt::format("rank {} (process {})", rank, how.si_pid);
  if (exited) {
    error_ << fmt::format("tutti launch: {} ended with exit code {}\n", who, how.si_status);
  } else {
    const char* name = sigabbrev_np(how.si_status);
    error_ << fmt::format("tutti launch: {} was killed by {}\n", who,
                          name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", how.si_status));
  }
  error_.flush();
  if (ending_ == Ending::terminated || ending_ == Ending::killed) return;
  ending_ = Ending::waiting;
  next_step_ = Clock::now() + to_chrono(options_.grace);
}

void Group::escalate() {
  const std::string left = rank_list(running());
  next_step_ = Clock::now() + to_chrono(options_.grace);
  switch (ending_) {
    case Ending::none:
      exit_code_ = kTimedOut;
      error_ << fmt::format("tutti launch: {} still ran after {}; sent SIGTERM\n", left, to_text(options_.timeout));
      break;
    case Ending::waiting:
      error_ << fmt::format("tutti launch: {} still ran {} after that; sent SIGTERM\n", left, to_text(options_.grace));
      break;
    case Ending::terminated: error_ << fmt::format("tutti launch: {} did not heed it; killed\n", left); break;
    case Ending::killed: break;
  }
  error_.flush();
  const bool gently = ending_ == Ending::none || ending_ == Ending::waiting;
  ending_ = gently ? Ending::terminated : Ending::killed;
  signal_all(gently ? SIGTERM : SIGKILL);
}

// As a program that SIGPIPE ends, which this one would be.
void Group::note_lost_reader() {
  if (exit_code_ != 0 || (out_.good() && error_.good()) || !Signals::has_broken_pipe()) return;
  exit_code_ = kSignalBase + SIGPIPE;
  ending_ = Ending::terminated;
  next_step_ = Clock::now() + to_chrono(options_.grace);
  signal_all(SIGTERM);
}

// To the processes' groups, also those whose leader has ended: what it started is part of it.
void Group::signal_all(int signal) const {
  for (const Process& process : processes_) {
    // One that has made a group of its own is still known by its pid.
    if (kill(-process.pid, signal) != 0) kill(process.pid, signal);
  }
}

std::vector<int> Group::running() const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i].ended) ranks.push_back(static_cast<int>(i));
  }
  return ranks;
}

}  // namespace

Result<int> run_group(const GroupOptions& options, std::ostream& out, std::ostream& error) {
  out.flush();
  error.flush();
  return Group(options, out, error).run();
}

}  // namespace tutti::launch
