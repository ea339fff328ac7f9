// SPDX-License-Identifier: Apache-2.0
// Rows of results from what programs printed. Pure functions; thread-safe.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/outputs/reading.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

// The collective that a program or a benchmark is named for: all_reduce_perf, osu_allgatherv, Reduce_scatter_block.
[[nodiscard]] std::optional<Traffic> traffic_named(std::string_view name);

// A row for each reading; and one that is an error where the program failed, lines could not be read, or there is no
// row at all. `frame` is what is known before: bench, peer, ranks, settings, the axes' values, launch. What is printed
// comes behind the axes; what has an axis's name and another value is called printed_NAME, and of rows that would be
// alike all but the first have a number. `failure` says how the program failed; empty where it did not.
[[nodiscard]] std::vector<Row> rows_of(const Output& output, const Row& frame, const std::string& failure);

}  // namespace tutti::harness
