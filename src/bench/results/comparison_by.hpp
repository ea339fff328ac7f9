// A comparison in short: how competitors stand to the first one over all cases that have a number of ranks, or whatever
// else tells cases apart, in common. Pure; thread-safe.
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "bench/results/comparison.hpp"
#include "bench/results/table.hpp"

namespace tutti::harness {

// A line for each value of the column (of those that tell cases apart: ranks, bytes) and each competitor but the first:
// by how much its rate is higher in percent (by the geometric mean of the ratios, least, greatest; of times of 0 there
// is no rate), how many cases are of which verdict, how many could not be compared, and in which it is slower. An error
// where no column is called that.
[[nodiscard]] Result<Table> table_by(const Comparison& comparison, std::string_view column);

}  // namespace tutti::harness
