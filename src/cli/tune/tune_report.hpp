// SPDX-License-Identifier: Apache-2.0
// What a tuning says to people. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/views/table.hpp"
#include "cli/tune/tune_score.hpp"
#include "table/decision_table.hpp"

namespace tutti::cli {

// "all_reduce, 2 ranks, ordinary memory".
[[nodiscard]] std::string title_of_section(const TableSection& section);
// Before and after, a row each.
[[nodiscard]] Table table_of_scores(std::span<const Scored> scored);
// "12 faster, 1 slower, 5 same, 6 undecided; geometric mean 1.31 times as fast".
[[nodiscard]] std::string summary_of(std::span<const Scored> scored);
// The ranges of a table, for one that has no scores.
[[nodiscard]] Table table_of_ranges(const DecisionTable& table);
// Why the table does what it does at this size, section by section.
[[nodiscard]] std::string explained(const DecisionTable& table, std::uint64_t bytes);

}  // namespace tutti::cli
