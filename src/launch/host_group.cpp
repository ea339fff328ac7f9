// SPDX-License-Identifier: Apache-2.0
#include "launch/host_group.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/text.hpp"
#include "launch/ending.hpp"
#include "launch/frames.hpp"
#include "launch/reach.hpp"
#include "launch/remote_host.hpp"
#include "launch/signals.hpp"
#include "launch/streams.hpp"
#include "runtime/bootstrap/gathering.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti::launch {

namespace {

constexpr std::chrono::seconds kAnswerPatience{10};   // then it is said who has not answered
constexpr std::chrono::seconds kPartingPatience{5};   // of hosts that end their ranks because the launcher hangs up
constexpr std::chrono::milliseconds kLastWords{500};  // between an agent's end and that of its output
constexpr int kAgentNotFound = 127;
constexpr int kSshFailed = 255;
constexpr int kMisused = 2;

class HostGroup {
 public:
  HostGroup(const HostsOptions& options, std::ostream& out, std::ostream& error)
      : options_(options),
        out_(out),
        error_(error),
        writer_(options.group.tag, out, error),
        ending_({options.group.timeout, options.group.grace},
                {[this](int signal) { signal_all(signal); }, [this] { return running(); }}, error) {}

  Result<int> run();

 private:
  Status start();
  Status start_host(const HostRanks& placed);
  void wait_once();
  void wait_for_streams(std::optional<Clock::time_point> deadline);
  void read_input();
  void obey_signals();
  void receive(RemoteHost& host);
  Status obey(RemoteHost& host, const Frame& frame);
  Status obey_rank(RemoteHost& host, const Frame& frame);
  static void end_agent(RemoteHost& host);
  void note_ends_of_agents();
  void note_lost(RemoteHost& host);
  void give_up(RemoteHost& host, const std::string& why);
  void ask_who_is_late();
  void part();
  void signal_all(int signal);
  [[nodiscard]] std::vector<int> running() const;
  [[nodiscard]] bool is_done() const { return aborted_ || running().empty(); }

  const HostsOptions& options_;
  std::ostream& out_;
  std::ostream& error_;
  Signals signals_;
  std::unique_ptr<RendezvousServer> server_;
  std::vector<RemoteHost> hosts_;
  OutputWriter writer_;
  Ending ending_;
  std::optional<Clock::time_point> next_question_ = Clock::now() + kAnswerPatience;
  bool may_send_input_ = false;  // to rank 0
  bool aborted_ = false;         // nothing is waited for any more
};

Result<int> HostGroup::run() {
  TUTTI_TRY(start());
  while (!is_done()) wait_once();
  part();
  writer_.finish();
  return ending_.exit_code();
}

Status HostGroup::start() {
  std::vector<std::string> others;
  for (const HostRanks& placed : options_.hosts) {
    if (!placed.is_this_host()) others.push_back(placed.host);
  }
  RendezvousOptions rendezvous{.address = options_.address};
  if (!options_.address && !others.empty()) {
    TUTTI_TRY_ASSIGN(rendezvous.address, address_towards(others));
  }
  TUTTI_TRY_ASSIGN(server_, RendezvousServer::start(rendezvous));
  hosts_.reserve(options_.hosts.size());
  for (const HostRanks& placed : options_.hosts) TUTTI_TRY(start_host(placed));
  return {};
}

Status HostGroup::start_host(const HostRanks& placed) {
  std::vector<std::string> command = {"/proc/self/exe", "launch", "--remote"};
  if (!placed.is_this_host()) {
    command.front() = options_.tutti;
    TUTTI_TRY_ASSIGN(command, agent_command(options_.agent, placed.host, command));
  }
  RemoteHost& host = hosts_.emplace_back(placed, std::move(command));
  TUTTI_TRY(host.start(options_.group.environment.block(), signals_.before()));
  host.send(encode(Order{.version = std::string(options_.version),
                         .ranks = placed.ranks,
                         .bind_to_cores = options_.group.bind_to_cores,
                         .id = server_->id(),
                         .folder = options_.folder,
                         .command = options_.group.command,
                         .variables = options_.variables}));
  return {};
}

void HostGroup::wait_once() {
  std::optional<Clock::time_point> deadline = ending_.next_step();
  if (next_question_ && (!deadline || *next_question_ < *deadline)) deadline = next_question_;
  wait_for_streams(deadline);
  if ((!out_.good() || !error_.good()) && Signals::has_broken_pipe()) ending_.note_lost_reader();
  if (next_question_ && Clock::now() >= *next_question_) ask_who_is_late();
  if (!ending_.next_step() || Clock::now() < *ending_.next_step() || is_done()) return;
  // A host that does not even say that it has killed its ranks is not waited for.
  aborted_ = ending_.has_killed();
  if (!aborted_) ending_.escalate();
}

void HostGroup::wait_for_streams(std::optional<Clock::time_point> deadline) {
  const bool wants_input = may_send_input_ && !is_done();
  std::vector<pollfd> fds = {{signals_.fd(), POLLIN, 0}, {wants_input ? STDIN_FILENO : -1, POLLIN, 0}};
  const std::size_t first_host = fds.size();
  for (const RemoteHost& host : hosts_) {
    fds.push_back({host.from_fd(), POLLIN, 0});
    fds.push_back({host.has_unsent() ? host.to_fd() : -1, POLLOUT, 0});
  }
  if (poll(fds.data(), fds.size(), poll_timeout(deadline, Clock::now())) < 0) return;  // EINTR
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (fds[first_host + 2 * i].revents != 0) receive(hosts_[i]);
    if (fds[first_host + 2 * i + 1].revents != 0 && hosts_[i].has_unsent()) hosts_[i].send_some();
  }
  if (fds[1].revents != 0) read_input();
  if (fds[0].revents != 0) obey_signals();
}

// The ranks of the list's first host have rank 0 among them. More is read once it has taken what was sent.
void HostGroup::read_input() {
  std::array<char, 4096> bytes{};
  const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  may_send_input_ = false;
  hosts_.front().send(got > 0 ? encode(FrameType::input, 0, {bytes.data(), static_cast<std::size_t>(got)})
                              : encode(FrameType::input_end, 0));
}

void HostGroup::obey_signals() {
  while (const int signal = signals_.take()) {
    if (signal != SIGCHLD) ending_.obey(signal);
  }
  note_ends_of_agents();
}

void HostGroup::receive(RemoteHost& host) {
  const Status status = host.receive([&](const Frame& frame) { return obey(host, frame); });
  if (!status.ok()) give_up(host, status.to_string());
  if (host.from_fd() != UniqueFd::kNone) return;
  if (host.is_running()) end_agent(host);
  if (host.is_over()) note_lost(host);
}

// The remote launcher has ended before its ranks have. Its agent ends as well, and says how.
void HostGroup::end_agent(RemoteHost& host) {
  const auto deadline = Clock::now() + kLastWords;
  for (host.note_agent_end(); !host.agent_end() && Clock::now() < deadline; host.note_agent_end()) poll(nullptr, 0, 5);
  if (!host.agent_end()) host.kill_agent();
}

Status HostGroup::obey(RemoteHost& host, const Frame& frame) {
  switch (frame.type) {
    case FrameType::greeting:
      host.has_answered = true;
      if (&host == &hosts_.front()) may_send_input_ = true;
      return {};
    case FrameType::input_taken: may_send_input_ = true; return {};
    case FrameType::refused: {
      const std::string what =
          fmt::format("host {}: cannot run {}", host.name(), in_quotes(options_.group.command.front()));
      const int refused = static_cast<int>(frame.number);
      ending_.fail(refused == ENOENT ? kNotFound : kNotRunnable, Status::from_errno(what, refused).message());
      aborted_ = true;
      return {};
    }
    case FrameType::failed:
      ending_.fail(kHostLost, fmt::format("host {}: {}", host.name(), printable(frame.bytes)));
      std::fill(host.runs.begin(), host.runs.end(), false);
      return {};
    case FrameType::output:
    case FrameType::error_output:
    case FrameType::ended: return obey_rank(host, frame);
    default: return wrong_argument(in_quotes(encode(frame.type, frame.number, frame.bytes)));
  }
}

Status HostGroup::obey_rank(RemoteHost& host, const Frame& frame) {
  const std::int64_t place = static_cast<std::int64_t>(frame.number) - host.ranks().first;
  if (place < 0 || place >= host.ranks().count)
    return wrong_argument(fmt::format("something of rank {}", frame.number));
  if (frame.type != FrameType::ended) {
    writer_.take({static_cast<int>(frame.number), frame.type == FrameType::error_output, frame.bytes});
    return {};
  }
  TUTTI_TRY_ASSIGN(const RankEnd end, decode_end(frame));
  host.runs[static_cast<std::size_t>(place)] = false;
  ending_.note_end(end, fmt::format(" on {}", host.name()));
  return {};
}

void HostGroup::note_ends_of_agents() {
  for (RemoteHost& host : hosts_) {
    const bool had_ended = host.agent_end().has_value();
    host.note_agent_end();
    if (had_ended || !host.agent_end()) continue;
    // What it has said before it ended is there already, unless another process holds its output open.
    const auto deadline = Clock::now() + kLastWords;
    while (host.from_fd() != UniqueFd::kNone && Clock::now() < deadline) {
      pollfd from{host.from_fd(), POLLIN, 0};
      if (poll(&from, 1, poll_timeout(deadline, Clock::now())) > 0) receive(host);
    }
    host.close();
    note_lost(host);
  }
}

// Once its agent has ended: whether the ranks had ended before.
void HostGroup::note_lost(RemoteHost& host) {
  std::vector<int> left;
  for (std::size_t i = 0; i < host.runs.size(); ++i) {
    if (host.runs[i]) left.push_back(host.ranks().first + static_cast<int>(i));
  }
  std::fill(host.runs.begin(), host.runs.end(), false);
  if (left.empty() || !host.agent_end()) return;
  const RemoteHost::AgentEnd& end = *host.agent_end();
  const std::string how = end.was_killed ? fmt::format("was killed by SIG{}", sigabbrev_np(end.status))
                                         : fmt::format("ended with exit code {}", end.status);
  if (host.has_answered) {
    ending_.fail(kHostLost, fmt::format("host {} is lost with {}: its agent {}", host.name(), rank_list(left), how));
    return;
  }
  std::string advice;
  if (!end.was_killed && end.status == kAgentNotFound) advice = "; --tutti takes the path of tutti there";
  if (!end.was_killed && end.status == kMisused) advice = "; tutti there may have another version";
  if (!end.was_killed && end.status == kSshFailed) advice = "; see whether it runs a command such as true";
  // The agent of a host that has not answered gets the signals that are meant for the ranks.
  ending_.fail(end.was_killed ? kSignalBase + end.status : kHostLost,
               fmt::format("host {} has not answered: {} {}{}", host.name(), host.command_text(), how, advice));
}

// Of one that talks something else.
void HostGroup::give_up(RemoteHost& host, const std::string& why) {
  ending_.fail(kHostLost, fmt::format("host {}: the standard output of {} has {} where tutti was to answer; nothing "
                                      "else, such as a login script, may write there",
                                      host.name(), host.command_text(), why));
  std::fill(host.runs.begin(), host.runs.end(), false);
  host.close();
  host.hang_up();
}

void HostGroup::ask_who_is_late() {
  next_question_.reset();
  std::vector<std::string> late;
  for (const RemoteHost& host : hosts_) {
    if (!host.has_answered && !host.agent_end()) late.push_back(host.name());
  }
  if (late.empty()) return;
  error_ << fmt::format("tutti launch: no answer yet from {} after {} s\n", host_list(late), kAnswerPatience.count());
  error_.flush();
}

// All remote launchers end with their ranks once nobody talks to them.
void HostGroup::part() {
  for (RemoteHost& host : hosts_) host.hang_up();
  const auto deadline = Clock::now() + kPartingPatience;
  // An agent that stays after its remote launcher has nothing more to say.
  const auto is_over = [](const RemoteHost& host) {
    return host.is_over() || (host.from_fd() == UniqueFd::kNone && !host.is_running());
  };
  while (!std::all_of(hosts_.begin(), hosts_.end(), is_over) && Clock::now() < deadline) {
    wait_for_streams(deadline);
    note_ends_of_agents();
  }
  std::vector<std::string> left;
  for (const RemoteHost& host : hosts_) {
    if (!host.agent_end() && host.is_running()) left.push_back(host.name());
  }
  if (left.empty()) return;
  ending_.tell(kHostLost, fmt::format("{} has not confirmed the end of its ranks", host_list(left)));
}

void HostGroup::signal_all(int signal) {
  for (RemoteHost& host : hosts_) host.signal(signal);
}

std::vector<int> HostGroup::running() const {
  std::vector<int> ranks;
  for (const RemoteHost& host : hosts_) {
    for (std::size_t i = 0; i < host.runs.size(); ++i) {
      if (host.runs[i]) ranks.push_back(host.ranks().first + static_cast<int>(i));
    }
  }
  return ranks;
}

}  // namespace

Result<int> run_on_hosts(const HostsOptions& options, std::ostream& out, std::ostream& error) {
  out.flush();
  error.flush();
  return HostGroup(options, out, error).run();
}

}  // namespace tutti::launch
