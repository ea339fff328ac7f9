// SPDX-License-Identifier: Apache-2.0
// How two kept runs differ, and how to compare them over that. Values; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

// A variable or an axis of which each run has one value, and not the same.
struct RunDifference {
  std::string name;
  std::string first;  // as people read it: 16, unset, or "not set" if the run has no such value
  std::string second;
};
[[nodiscard]] std::vector<RunDifference> differences_of(const std::vector<Row>& first, const std::vector<Row>& second);

[[nodiscard]] bool have_variable_or_axis(const std::vector<Row>& rows, std::string_view name);
// The rows without it, so that cases of two runs that differ in nothing else match. An error if two rows of this run
// would become equal, because the run has several values of it.
[[nodiscard]] Result<std::vector<Row>> without(const std::vector<Row>& rows, std::string_view name);

}  // namespace tutti::harness
