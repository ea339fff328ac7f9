// SPDX-License-Identifier: Apache-2.0
// Where a sweep's ranks are if they are on several hosts. Asks the system for names and routes; main thread only.
#pragma once

#include <map>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"
#include "bench/hosts/ranks_on_hosts.hpp"
#include "cli/bench/bench_world.hpp"

namespace tutti::cli {

// For each number of ranks; where `num_ranks` is empty, all that the hosts have room for.
[[nodiscard]] Result<std::map<int, harness::OverHosts>> place_on_hosts(const HostWords& words,
                                                                       const std::vector<int>& num_ranks,
                                                                       const Environment& environment);

}  // namespace tutti::cli
