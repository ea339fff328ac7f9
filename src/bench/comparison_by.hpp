// A comparison in short: how competitors stand to the first one over all cases that have a number of ranks, or whatever
// else tells cases apart, in common. Pure; thread-safe.
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "bench/comparison.hpp"
#include "bench/table.hpp"

namespace tutti::harness {

// A line for each value of the column (of those that tell cases apart: ranks, bytes) and each competitor but the first:
// by how much it is faster in percent of its own time, which is the difference of rates (average, least, greatest), how
// many cases are of which verdict, and in which it is slower. An error where no column is called that.
[[nodiscard]] Result<Table> table_by(const Comparison& comparison, std::string_view column);

}  // namespace tutti::harness
