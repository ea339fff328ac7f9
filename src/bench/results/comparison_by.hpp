// SPDX-License-Identifier: Apache-2.0
// A comparison in short: how competitors stand to the first one over all cases that have a number of ranks, or whatever
// else tells cases apart, in common. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "bench/results/comparison.hpp"
#include "bench/views/table.hpp"
#include "bench/views/text_grid.hpp"

namespace tutti::harness {

// A line for each value of the column (of those that tell cases apart: ranks, bytes) and each competitor but the first:
// by how much its rate is higher in percent (by the geometric mean of the ratios, least, greatest; of times of 0 there
// is no rate), how many cases are of which verdict, how many could not be compared, and in which it is slower. An error
// where no column is called that.
[[nodiscard]] Result<Table> table_by(const Comparison& comparison, std::string_view column);

// The same as people read it, about the first competitor: "0.80× (0.79 to 0.81)" are the mean, the least and the
// greatest of how many times as fast it is, and the counts of verdicts are its own.
[[nodiscard]] Result<std::string> text_of_by(const Comparison& comparison, std::string_view column,
                                             const TextStyle& style);

}  // namespace tutti::harness
