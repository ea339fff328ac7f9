// SPDX-License-Identifier: Apache-2.0
// The best of each case as people read it. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "bench/results/comparison.hpp"

namespace tutti::harness {

// table_of_best(), aligned, and where its lines are longer than `width`, in two: what is best of each case, a line
// each, and under it everybody's times, a line for each competitor. Of many cases as many stand side by side there as
// fit. Below them each kind of note stands once.
[[nodiscard]] std::string text_of_best(const Comparison& comparison, std::size_t baseline, std::size_t width);

}  // namespace tutti::harness
