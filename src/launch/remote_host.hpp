// SPDX-License-Identifier: Apache-2.0
// One host as its launcher sees it: the agent's process, the frames both ways, and which of its ranks run.
// Main thread only.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/status.hpp"
#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "launch/frames.hpp"
#include "launch/hosts.hpp"

namespace tutti::launch {

class RemoteHost {
 public:
  struct AgentEnd {
    bool was_killed = false;
    int status = 0;  // the exit code or the signal
  };

  // `command` is the agent's, whole.
  RemoteHost(const HostRanks& placed, std::vector<std::string> command);
  RemoteHost(RemoteHost&& other) noexcept;
  RemoteHost& operator=(RemoteHost&&) = delete;
  // The agent's process goes, with what it has started.
  ~RemoteHost();

  Status start(const std::vector<std::string>& environment, const sigset_t& signal_mask);

  void send(const std::string& frame);
  // What the agent takes now.
  void send_some();
  [[nodiscard]] bool has_unsent() const { return to_.valid() && !unsent_.empty(); }
  // The remote launcher ends its ranks, if some still run, and itself.
  void hang_up() { to_.reset(); }
  // Before the remote launcher has answered, signals go to the agent.
  void signal(int signal);
  void kill_agent() const;

  // Reads what has come, and calls `obey` with each frame until that fails or nothing is left.
  Status receive(const std::function<Status(const Frame&)>& obey);
  // Whether the agent has ended; it is looked at only here.
  void note_agent_end();
  [[nodiscard]] const std::optional<AgentEnd>& agent_end() const { return agent_end_; }
  // Nothing more comes from it.
  [[nodiscard]] bool is_over() const { return agent_end_.has_value() && !from_.valid(); }
  // Nothing more is read.
  void close() { from_.reset(); }

  [[nodiscard]] const std::string& name() const { return host_; }
  [[nodiscard]] const RankRange& ranks() const { return ranks_; }
  // Whether one of its ranks has not ended, as far as is known.
  [[nodiscard]] bool is_running() const { return std::find(runs.begin(), runs.end(), true) != runs.end(); }
  [[nodiscard]] std::string command_text() const;
  [[nodiscard]] int to_fd() const { return to_.get(); }
  [[nodiscard]] int from_fd() const { return from_.get(); }

  bool has_answered = false;
  std::vector<bool> runs;  // for each of its ranks

 private:
  std::string host_;
  RankRange ranks_;
  std::vector<std::string> command_;
  pid_t agent_ = 0;
  UniqueFd to_;
  UniqueFd from_;
  std::string unsent_;
  FrameReader reader_;
  std::optional<AgentEnd> agent_end_;
};

}  // namespace tutti::launch
