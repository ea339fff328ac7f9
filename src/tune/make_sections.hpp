// SPDX-License-Identifier: Apache-2.0
// From times of ways at some sizes to ranges of sizes, each with its way and evidence. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "table/decision_table.hpp"
#include "tune/cells.hpp"

namespace tutti::tune {

struct MergeOptions {
  // How much longer a way may take, in the sum over sizes, to save a change of ways: 0.01 is 1 % at one size. With 0,
  // each size has its fastest way, and of equally fast ones those that make the fewest ranges.
  double tolerance = 0.01;
  // So much a way must gain over what happens if nothing is tuned, or that stays.
  double least_gain = 0.01;
  // The same where the intervals of both meet.
  double least_doubtful_gain = 0.04;
  // But at no single size longer than this.
  double most_regret = 0.03;
};

// A section for each key, in their order. Cells without times are left out, and so are keys that have none but these.
// A way is only taken at sizes where it was tried. Where ways change between two sizes, the range ends where lines
// through their times cross, on logarithmic axes.
[[nodiscard]] std::vector<TableSection> make_sections(std::span<const Cell> cells, const MergeOptions& options);

// Sizes above this one are left to what happens if nothing is tuned: they were to be measured, and were not.
void leave_beyond(std::uint64_t bytes, TableSection& section);

}  // namespace tutti::tune
