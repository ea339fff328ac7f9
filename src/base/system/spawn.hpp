// SPDX-License-Identifier: Apache-2.0
// Starts one process: the program, its environment, the core it is bound to and where its streams go. The child leads a
// process group of its own, has the signal mask that the launcher had, and is killed when the thread that started it
// ends. No state; the caller reaps.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/types.h>

#include "base/status.hpp"

namespace tutti {

struct SpawnRequest {
  std::vector<std::string> command;      // the program, looked for in PATH, and its arguments
  std::vector<std::string> environment;  // NAME=VALUE
  std::optional<int> core;
  int death_signal = SIGKILL;  // what it gets when the thread that started it ends
  // What becomes standard input, output and error.
  int input = 0;
  int output = 1;
  int error = 2;
  sigset_t signal_mask{};
  int announced_to = -1;  // a pipe into which the child writes its pid before it becomes the program; -1: none
};

struct Spawned {
  pid_t pid = 0;
  int refused = 0;  // errno of what kept the program from running; there is no process then
};
[[nodiscard]] Result<Spawned> spawn(const SpawnRequest& request);

// The cores that this process may run on, in ascending order.
[[nodiscard]] std::vector<int> allowed_cores();

}  // namespace tutti
