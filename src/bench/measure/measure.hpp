// SPDX-License-Identifier: Apache-2.0
// Measuring one case: rounds of iterations, in one group or in several that take turns, until there is enough of them.
// Blocks; one thread.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/process/live_group.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

struct MeasureOptions {
  Budget budget;
  std::optional<Sync> sync;  // else round, or meeting where ranks share cores
  bool check = true;
  // Of several groups, the one that is prepared first; the next in turn follow. What comes later gets other pages.
  std::size_t first = 0;
  // Says that it is enough, between rounds.
  std::function<bool()> is_interrupted = [] { return false; };
};

// The case in each of the groups: all are prepared, then rounds alternate between them in random order, so that their
// rows' rounds are pairs (compare_paired). Where a group breaks down, its row says so and the others go on. A group
// that is no longer alive gives an error row.
//
// One group is measured until its median is known well; several, until their ratios to the first are.
[[nodiscard]] std::vector<Row> measure(const std::string& bench, const std::vector<LiveGroup*>& groups,
                                       const Point& point, const MeasureOptions& options, std::mt19937_64& random);

}  // namespace tutti::harness
