// SPDX-License-Identifier: Apache-2.0
// Runs of the store as the page that `tutti report` writes and `tutti web` serves. One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "cli/bench/bench_world.hpp"
#include "cli/bench/run_pair.hpp"
#include "report/html/page.hpp"
#include "table/decision_table.hpp"

namespace tutti::cli {

// A page is passed on, so it stays below this.
inline constexpr std::size_t kMostPageBytes = 3'000'000;

// A section for each run: what it says, its charts, its machine and its rows. `served` is null for a page that is
// passed on.
[[nodiscard]] std::string page_of_runs(const std::vector<RunWithRows>& runs, const BenchWorld& world,
                                       const report::Served* served = nullptr);
// The same with a section for each decision table behind those of the runs. There is at least one of either.
[[nodiscard]] std::string page_of_all(const std::vector<RunWithRows>& runs, const std::vector<DecisionTable>& tables,
                                      const BenchWorld& world, const report::Served* served = nullptr);

// What changed from the first run to the second, over what is ignored (match()), and then both of them.
[[nodiscard]] Result<std::string> page_of_change(const RunPair& pair, const std::string& ignored,
                                                 const BenchWorld& world, const report::Served* served = nullptr);

// The line that describes a machine to people, with its memory in GB.
[[nodiscard]] std::string machine_in_figures(const std::string& machine);

}  // namespace tutti::cli
