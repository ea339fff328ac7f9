// How long a sweep takes: what is expected before it begins, and what is left while it runs. Pure functions and a
// value, without a clock; thread-safe where nobody writes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/launcher.hpp"

namespace tutti::harness {

// To start a group's processes and to end them, in seconds.
[[nodiscard]] double expected_start(Launcher launcher);
// To measure a case with that budget, in seconds: most cases are known well long before it is spent.
[[nodiscard]] double expected_case(double budget_seconds);

class Estimate {
 public:
  // `expected`: seconds for all cases together; 0 where nothing is known of them.
  Estimate(double expected, std::size_t num_cases) : expected_(expected), num_cases_(num_cases) {}

  // After `spent` seconds, in which `num_done` of the cases were done. What these took corrects what was expected of
  // the others, the more so the more there were. None where nothing is known yet.
  [[nodiscard]] std::optional<double> seconds_left(double spent, std::size_t num_done) const;

 private:
  double expected_;
  std::size_t num_cases_;
};

// "12 s", "3 min", "1.5 h": rounded up.
[[nodiscard]] std::string rough_duration(double seconds);

}  // namespace tutti::harness
