// SPDX-License-Identifier: Apache-2.0
// What outlives the runner, however that dies, and then ends a program with all that it has started: the kernel tells
// only direct children. One thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/system/unique_fd.hpp"

namespace tutti::harness {

struct Guarded {
  std::string entry;                     // of their environment, by which they are found
  std::vector<std::string> environment;  // of those that are started directly
  // How long after the runner they are left to end by themselves: ranks, and what has started them.
  std::chrono::milliseconds ranks_are_left{0};
  std::chrono::milliseconds others_are_left{0};
};

class Guard {
 public:
  Guard() = default;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { end(); }

  // To be called before they are started. Where the system does not let it watch, there is none.
  void start(const Guarded& guarded);
  // A pipe for the pids of those that are started directly (SpawnRequest): one that has gone when the guard looks may
  // have left something. -1 where there is no guard.
  [[nodiscard]] int announcements() const { return announced_.get(); }
  // They are ended, or others see to it.
  void end();

 private:
  pid_t pid_ = 0;
  // Both ends: who writes must find a reader, whatever becomes of the guard.
  UniqueFd announced_;
  UniqueFd told_;
};

}  // namespace tutti::harness
