// SPDX-License-Identifier: Apache-2.0
// What the cases of a comparison share, and what each of them is called: the sentence above a table, the lines that
// divide it, and the first column. A value; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/results/comparison.hpp"
#include "bench/views/table.hpp"

namespace tutti::harness {

// A value of such a column as people read it: sizes have units.
[[nodiscard]] std::string value_text(std::string_view column, const Cell& cell);

struct CaseNames {
  std::string shared;                 // "all_reduce on 2 ranks, type=f32, op=sum"
  std::vector<std::string> groups;    // "ranks=4"; a single one without words where only the labels differ
  std::vector<std::size_t> group_of;  // each case
  std::string column;                 // what labels are of: "bytes"; empty where no case needs a label
  std::vector<std::string> labels;    // of each case: "64K", no two alike in a group
  bool are_numbers = false;           // the labels

  [[nodiscard]] static CaseNames of(const Comparison& comparison);

  // "ranks=4 64K".
  [[nodiscard]] std::string full(std::size_t number) const;
  // Of some cases, in ascending order: "ranks=4", or "64K, 1M and 3 more".
  [[nodiscard]] std::string list(const std::vector<std::size_t>& numbers) const;
};

}  // namespace tutti::harness
