// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/estimate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tutti::harness {

namespace {

// As on machines that do nothing else: mpirun starts its own daemons first.
constexpr double kLocalStart = 0.05;
constexpr double kForeignStart = 0.3;
constexpr double kCase = 0.02;  // to prepare it, to warm up and to check
// What most cases take to be known well, large and small ones together; a budget of as much cuts half of that off.
constexpr double kKnown = 0.1;

}  // namespace

double expected_start(Launcher launcher) { return launcher == Launcher::local ? kLocalStart : kForeignStart; }

double expected_case(double budget_seconds) { return kCase + budget_seconds * kKnown / (budget_seconds + kKnown); }

std::optional<double> Estimate::seconds_left(double spent, std::size_t num_done) const {
  const std::size_t left = num_cases_ - std::min(num_done, num_cases_);
  if (left == 0) return 0;
  const auto done = static_cast<double>(num_done);
  if (!(expected_ > 0)) return num_done == 0 ? std::nullopt : std::optional(spent / done * static_cast<double>(left));
  const double each = expected_ / static_cast<double>(num_cases_);
  // What was expected counts like so many cases that took that long.
  const double trust = std::max(1.0, static_cast<double>(num_cases_) / 20);
  return static_cast<double>(left) * (spent + trust * each) / (done + trust);
}

std::string rough_duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(1.0, std::ceil(seconds)));
  if (seconds < 5400) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace tutti::harness
