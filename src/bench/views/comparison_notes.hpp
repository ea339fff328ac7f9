// SPDX-License-Identifier: Apache-2.0
// What is to be said of the rows of a comparison, each thing once with the cases that it is said of. Pure; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "bench/results/comparison.hpp"
#include "bench/views/case_names.hpp"

namespace tutti::harness {

// A line for each kind: "more ranks than cores" of all rows, "openmpi at 8, 64K: 12 to 20 % outliers" of some. What is
// said of the same rows stands in one line. `called` are the competitors' names.
[[nodiscard]] std::vector<std::string> notes_by_kind(const Comparison& comparison, const CaseNames& names,
                                                     const std::vector<std::string>& called);

}  // namespace tutti::harness
