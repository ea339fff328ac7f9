// SPDX-License-Identifier: Apache-2.0
// A program in place of this one until it ends: with this one's streams, terminal and process group. Main thread only.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"

namespace tutti::cli {

struct ForegroundEnd {
  int status = 0;   // as shells have it: 128 + signal where one killed it, 127 or 126 where it cannot be run
  int refused = 0;  // errno of what kept it from running
};

// Signals that are to end this process are passed on to it. What a terminal sends it gets itself.
[[nodiscard]] Result<ForegroundEnd> run_in_foreground(const std::vector<std::string>& command,
                                                      const Environment& environment);

}  // namespace tutti::cli
