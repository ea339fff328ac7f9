// Measuring one case: rounds of iterations, in one group or in several that take turns, until there is enough of them.
// Blocks; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/live_group.hpp"
#include "bench/result.hpp"

namespace tutti::harness {

struct MeasureOptions {
  Budget budget;
  std::optional<Sync> sync;  // else round, or barrier where ranks share cores
  bool check = true;
  std::uint64_t least_rounds = 1;  // where rounds are compared, there have to be some
  // Says that it is enough, between rounds.
  std::function<bool()> is_interrupted = [] { return false; };
};

// What a group gave, and the median of each round: those of groups measured together are pairs, round by round.
struct Measured {
  Row row;
  std::vector<double> round_medians;
};

// The case in each of the groups: all are prepared, then rounds alternate between them in random order. Where a group
// breaks down, its row says so and the others go on. A group that is no longer alive gives an error row.
[[nodiscard]] std::vector<Measured> measure(const std::string& bench, const std::vector<LiveGroup*>& groups,
                                            const std::vector<Point>& points, const MeasureOptions& options,
                                            std::mt19937_64& random);

}  // namespace tutti::harness
