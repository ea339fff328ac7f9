// SPDX-License-Identifier: Apache-2.0
// The processes of `tutti launch`: N copies of a program, each told its rank, watched until all have ended. They never
// outlive the launcher: the kernel kills each when the launcher dies, and the first failure ends the rest.
//
// run_group() blocks; SIGINT, SIGTERM, SIGHUP and SIGCHLD are its own meanwhile. Main thread only, since the kernel
// ties the children's lives to the thread that started them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/units.hpp"
#include "base/variables/environment.hpp"

namespace tutti::launch {

struct GroupOptions {
  int num_ranks = 1;
  std::vector<std::string> command;  // program and arguments
  Environment environment;           // of every rank, before its own variables are added
  bool bind_to_cores = true;         // rank r to the core r modulo their number among those of this process
  bool tag = false;                  // each line of output with its rank in front
  Nanos timeout{};                   // 0: none
  Nanos grace{2'000'000'000};        // between a failure, SIGTERM and SIGKILL; and a SIGTERM passed on, and SIGKILL
};

inline constexpr int kTimedOut = 124;  // as timeout(1) has it

// The exit code of the whole: 0 if every rank ended with 0; else that of the rank that failed first, 128 + signal
// where one killed it or nobody reads the output any more (SIGPIPE), kTimedOut, or where the program cannot be run 127
// (not found) or 126 (not runnable), as shells have it. What happened is told to `error`; tagged output goes to `out`.
// An error of its own means that the system refused something; no rank is left then.
[[nodiscard]] Result<int> run_group(const GroupOptions& options, std::ostream& out, std::ostream& error);

}  // namespace tutti::launch
