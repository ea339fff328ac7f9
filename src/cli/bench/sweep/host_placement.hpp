// SPDX-License-Identifier: Apache-2.0
// A sweep over several hosts: which ranks of it are where. Main thread only.
#pragma once

#include "base/status.hpp"
#include "cli/bench/sweep/sweep_options.hpp"

namespace tutti::cli {

// For every number of ranks of the sweep; where nobody has said one, the number that the hosts have room for.
[[nodiscard]] Status place_on_hosts(const SweepOptions& options, const BenchWorld& world, bool has_num_ranks,
                                    SweepPlan& plan);
// All cases of the plan say where their ranks are.
void show_hosts(SweepPlan& plan);

}  // namespace tutti::cli
