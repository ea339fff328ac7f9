// SPDX-License-Identifier: Apache-2.0
// What `tutti compare` shows people by default: a line a case, narrow enough to be read. The columns for machines are
// in comparison.hpp. Pure; thread-safe.
#pragma once

#include <string>

#include "bench/results/comparison.hpp"
#include "bench/views/text_grid.hpp"

namespace tutti::harness {

// Above the table, what all cases share, and whom the ratios are about: "2.8×" says that the first competitor is 2.8
// times as fast as the other. Below it, each kind of note once, and what was left out for want of width: words of
// verdicts, then intervals, then all but each case's two fastest besides the first. Long names are letters where that
// makes the table narrow enough, and the letters stand above it.
[[nodiscard]] std::string text_of_pairs(const Comparison& comparison, const TextStyle& style);

}  // namespace tutti::harness
