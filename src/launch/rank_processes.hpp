// SPDX-License-Identifier: Apache-2.0
// The processes of the ranks on this host: they are started, told who they are, bound to cores, and never outlive the
// launcher, since the kernel kills each when the thread that started it ends. Main thread only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/status.hpp"
#include "base/system/spawn.hpp"
#include "base/system/unique_fd.hpp"
#include "base/unique_id.hpp"
#include "base/variables/environment.hpp"
#include "launch/ending.hpp"
#include "launch/streams.hpp"

namespace tutti::launch {

inline constexpr int kNotRunnable = 126;
inline constexpr int kNotFound = 127;

// Which ranks are here.
struct RankRange {
  int first = 0;
  int count = 1;
  int total = 1;        // on all hosts
  int first_place = 0;  // how many ranks of other launchers have the first cores of this host
};

class RankProcesses {
 public:
  struct Options {
    RankRange ranks;
    std::vector<std::string> command;
    Environment environment;  // before the rank's own variables are added
    bool bind_to_cores = true;
    bool capture_output = false;  // into streams(); otherwise ranks print where the launcher does
    bool pump_input = false;      // rank 0 reads what comes through input(); otherwise what the launcher would read
    sigset_t signal_mask{};
  };
  explicit RankProcesses(Options options) : options_(std::move(options)) {}
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;
  ~RankProcesses();

  // errno of what kept the program from running, or 0. Some ranks may run already then.
  [[nodiscard]] Result<int> start(const UniqueId& id);
  // Calls `told` for each rank that has ended since.
  void note_ends(const std::function<void(const RankEnd&)>& told);
  // To the processes' groups, also those whose leader has ended: what it started is part of it.
  void signal_all(int signal) const;
  [[nodiscard]] std::vector<int> running() const;  // ascending
  [[nodiscard]] std::vector<RankStream>& streams() { return streams_; }
  [[nodiscard]] InputPump& input() { return input_; }
  // What failing ranks have started is to go with them.
  void kill_all_at_end() { kills_at_end_ = true; }

 private:
  struct Process {
    pid_t pid = 0;
    bool ended = false;  // it stays a zombie to the end, so that its pid and group are nobody else's
  };
  Result<int> start_rank(int rank, const UniqueId& id, const std::vector<int>& cores);
  [[nodiscard]] std::vector<std::string> environment_of(int rank, const UniqueId& id, int core) const;
  Status open_input(int rank, SpawnRequest& request, std::vector<UniqueFd>& ends);
  Status open_outputs(int rank, SpawnRequest& request, std::vector<UniqueFd>& ends);

  Options options_;
  std::vector<Process> processes_;
  std::vector<RankStream> streams_;
  InputPump input_;
  bool kills_at_end_ = false;
};

}  // namespace tutti::launch
