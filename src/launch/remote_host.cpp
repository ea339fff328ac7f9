// SPDX-License-Identifier: Apache-2.0
#include "launch/remote_host.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/spawn.hpp"
#include "base/text.hpp"
#include "launch/agent.hpp"
#include "launch/streams.hpp"

namespace tutti::launch {

RemoteHost::RemoteHost(const HostRanks& placed, std::vector<std::string> command)
    : runs(static_cast<std::size_t>(placed.ranks.count), true),
      host_(placed.host),
      ranks_(placed.ranks),
      command_(std::move(command)) {}

RemoteHost::RemoteHost(RemoteHost&& other) noexcept
    : has_answered(other.has_answered),
      runs(std::move(other.runs)),
      host_(std::move(other.host_)),
      ranks_(other.ranks_),
      command_(std::move(other.command_)),
      agent_(std::exchange(other.agent_, 0)),
      to_(std::move(other.to_)),
      from_(std::move(other.from_)),
      unsent_(std::move(other.unsent_)),
      reader_(std::move(other.reader_)),
      agent_end_(other.agent_end_) {}

RemoteHost::~RemoteHost() {
  if (agent_ == 0) return;
  kill_agent();
  while (waitpid(agent_, nullptr, 0) < 0 && errno == EINTR) continue;
}

Status RemoteHost::start(const std::vector<std::string>& environment, const sigset_t& signal_mask) {
  TUTTI_TRY_ASSIGN(Pipe to, make_pipe());
  TUTTI_TRY_ASSIGN(Pipe from, make_pipe());
  SpawnRequest request;
  request.command = command_;
  request.environment = environment;
  request.input = to.reader.get();
  request.output = from.writer.get();
  request.signal_mask = signal_mask;
  TUTTI_TRY_ASSIGN(const Spawned spawned, spawn(request));
  if (spawned.refused != 0) {
    return wrong_argument(fmt::format(
        "{}; --agent takes a command that runs its arguments on a host",
        Status::from_errno(fmt::format("cannot run the agent {}", in_quotes(command_.front())), spawned.refused)
            .message()));
  }
  agent_ = spawned.pid;
  to_ = std::move(to.writer);
  from_ = std::move(from.reader);
  for (const UniqueFd* end : {&to_, &from_}) fcntl(end->get(), F_SETFL, O_NONBLOCK);
  return {};
}

void RemoteHost::send(const std::string& frame) {
  if (!to_.valid()) return;
  unsent_ += frame;
  send_some();
}

void RemoteHost::send_some() {
  const ssize_t put = write(to_.get(), unsent_.data(), unsent_.size());
  if (put > 0) unsent_.erase(0, static_cast<std::size_t>(put));
  // It does not read any more; what it has said before it ended is still to be read.
  if (put < 0 && errno != EINTR && errno != EAGAIN) to_.reset();
}

void RemoteHost::signal(int signal) {
  if (has_answered) {
    send(encode(FrameType::signal, static_cast<std::uint32_t>(signal)));
  } else if (!agent_end_ && signal != SIGCONT) {
    kill(-agent_, signal);
  }
}

void RemoteHost::kill_agent() const {
  if (agent_ == 0) return;
  if (kill(-agent_, SIGKILL) != 0) kill(agent_, SIGKILL);
}

Status RemoteHost::receive(const std::function<Status(const Frame&)>& obey) {
  std::array<char, 65536> bytes{};
  const ssize_t got = read(from_.get(), bytes.data(), bytes.size());
  if (got > 0) reader_.add({bytes.data(), static_cast<std::size_t>(got)});
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) from_.reset();
  while (true) {
    TUTTI_TRY_ASSIGN(const std::optional<Frame> frame, reader_.next());
    if (!frame) return {};
    TUTTI_TRY(obey(*frame));
  }
}

// It stays a zombie to the end, so that its pid and group are nobody else's.
void RemoteHost::note_agent_end() {
  siginfo_t how{};
  if (agent_ == 0 || agent_end_) return;
  if (waitid(P_PID, static_cast<id_t>(agent_), &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid == 0) return;
  agent_end_ = AgentEnd{how.si_code != CLD_EXITED, how.si_status};
}

std::string RemoteHost::command_text() const { return shell_text(command_); }

}  // namespace tutti::launch
