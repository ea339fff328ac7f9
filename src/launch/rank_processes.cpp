// SPDX-License-Identifier: Apache-2.0
#include "launch/rank_processes.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::launch {

RankProcesses::~RankProcesses() {
  // A rank's zombie keeps its group's number from being given away.
  if (kills_at_end_ || !running().empty()) signal_all(SIGKILL);
  for (const Process& process : processes_) {
    while (waitpid(process.pid, nullptr, 0) < 0 && errno == EINTR) continue;
  }
}

Result<int> RankProcesses::start(const UniqueId& id) {
  const std::vector<int> cores = options_.bind_to_cores ? allowed_cores() : std::vector<int>();
  for (int place = 0; place < options_.ranks.count; ++place) {
    TUTTI_TRY_ASSIGN(const int refused, start_rank(options_.ranks.first + place, id, cores));
    if (refused != 0) return refused;
  }
  return 0;
}

Result<int> RankProcesses::start_rank(int rank, const UniqueId& id, const std::vector<int>& cores) {
  SpawnRequest request;
  request.command = options_.command;
  if (!cores.empty()) {
    const int place = options_.ranks.first_place + rank - options_.ranks.first;
    request.core = cores[static_cast<std::size_t>(place) % cores.size()];
  }
  request.environment = environment_of(rank, id, request.core.value_or(-1));
  request.signal_mask = options_.signal_mask;
  std::vector<UniqueFd> ends;  // the child's, closed here once it runs
  TUTTI_TRY(open_input(rank, request, ends));
  if (options_.capture_output) TUTTI_TRY(open_outputs(rank, request, ends));
  Result<Spawned> spawned = spawn(request);
  if (!spawned.ok()) return spawned.status().with_context(fmt::format("cannot start rank {}", rank));
  if (spawned->refused == 0) processes_.push_back({spawned->pid, false});
  return spawned->refused;
}

std::vector<std::string> RankProcesses::environment_of(int rank, const UniqueId& id, int core) const {
  Environment environment = options_.environment;
  environment.set("TUTTI_RANK", fmt::format("{}", rank));
  environment.set("TUTTI_NUM_RANKS", fmt::format("{}", options_.ranks.total));
  environment.set("TUTTI_UNIQUE_ID", id.to_text());
  environment.set("TUTTI_LOCAL_CORE", fmt::format("{}", core));
  return environment.block();
}

Status RankProcesses::open_input(int rank, SpawnRequest& request, std::vector<UniqueFd>& ends) {
  if (rank == 0 && options_.pump_input) {
    TUTTI_TRY_ASSIGN(Pipe pipe, make_pipe());
    input_.writer = std::move(pipe.writer);
    fcntl(input_.writer.get(), F_SETFL, O_NONBLOCK);
    request.input = ends.emplace_back(std::move(pipe.reader)).get();
  } else if (rank != 0 || fcntl(STDIN_FILENO, F_GETFD) < 0) {
    UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!nothing.valid()) return Status::from_errno("cannot open /dev/null", errno);
    request.input = ends.emplace_back(std::move(nothing)).get();
  }
  return {};
}

Status RankProcesses::open_outputs(int rank, SpawnRequest& request, std::vector<UniqueFd>& ends) {
  for (const bool is_error : {false, true}) {
    TUTTI_TRY_ASSIGN(Pipe pipe, make_pipe());
    fcntl(pipe.reader.get(), F_SETFL, O_NONBLOCK);
    streams_.push_back({std::move(pipe.reader), rank, is_error});
    (is_error ? request.error : request.output) = ends.emplace_back(std::move(pipe.writer)).get();
  }
  return {};
}

void RankProcesses::note_ends(const std::function<void(const RankEnd&)>& told) {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].ended) continue;
    siginfo_t how{};
    const auto pid = static_cast<id_t>(processes_[i].pid);
    if (waitid(P_PID, pid, &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid == 0) continue;
    processes_[i].ended = true;
    told({options_.ranks.first + static_cast<int>(i), how.si_pid, how.si_code != CLD_EXITED, how.si_status});
  }
}

void RankProcesses::signal_all(int signal) const {
  for (const Process& process : processes_) {
    // One that has made a group of its own is still known by its pid.
    if (kill(-process.pid, signal) != 0) kill(process.pid, signal);
  }
}

std::vector<int> RankProcesses::running() const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i].ended) ranks.push_back(options_.ranks.first + static_cast<int>(i));
  }
  return ranks;
}

}  // namespace tutti::launch
