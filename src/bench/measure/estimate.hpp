// SPDX-License-Identifier: Apache-2.0
// The duration of a sweep: the estimate before it begins, and the rest while it runs. Pure functions and a
// value, without a clock; thread-safe where nobody writes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/process/launcher.hpp"

namespace tutti::harness {

// To start a group's processes and to end them, in seconds.
[[nodiscard]] double expected_start(Launcher launcher);
// To measure a case with that budget, in seconds: most cases are known well long before it is spent.
[[nodiscard]] double expected_case(double budget_seconds);

class Estimate {
 public:
  // `expected`: seconds for all cases together; 0 where nothing is known of them.
  Estimate(double expected, std::size_t num_cases) : expected_(expected), num_cases_(num_cases) {}

  // After `spent` seconds and `num_done` cases. Their time corrects the estimate of the others, the more the more cases
  // are done. None if nothing is known yet.
  [[nodiscard]] std::optional<double> seconds_left(double spent, std::size_t num_done) const;

 private:
  double expected_;
  std::size_t num_cases_;
};

// "12 s", "3 min", "1.5 h": rounded up.
[[nodiscard]] std::string rough_duration(double seconds);

}  // namespace tutti::harness
