// SPDX-License-Identifier: Apache-2.0
// The progress of a sweep, with the time left: on a terminal a line for each finished row, elsewhere a line every 30 s.
// Main thread only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <unistd.h>

#include "bench/measure/estimate.hpp"
#include "bench/results/result.hpp"
#include "cli/command.hpp"
#include "cli/heartbeat.hpp"

namespace tutti::cli {

// What is known of a sweep before it goes on.
struct Outlook {
  std::size_t num_cases = 0;
  std::size_t num_done = 0;  // before, and so many of these are bad
  std::size_t num_bad = 0;
  double expected_seconds = 0;  // of all cases; 0: not known
};

class Progress {
 public:
  Progress(const Context& context, const Outlook& outlook, bool is_terminal = ::isatty(STDERR_FILENO) != 0);

  // The rows of a case; those of a program may be many.
  void note(std::span<const harness::Row> rows);
  // Nothing is told any more: what is said from now on is others'.
  void end() { heartbeat_.reset(); }
  // Cases that are wrong or could not be measured.
  [[nodiscard]] std::size_t num_bad() const { return num_bad_; }
  [[nodiscard]] std::size_t num_done() const { return num_done_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::optional<double> seconds_left() const;

  const Context& context_;
  std::size_t num_cases_;
  std::size_t first_;
  harness::Estimate estimate_;
  // These two are read by the heartbeat.
  std::atomic<std::size_t> num_done_;
  std::atomic<Clock::time_point> last_;
  std::size_t num_bad_;
  bool is_terminal_;
  Clock::time_point begin_ = Clock::now();
  std::optional<Heartbeat> heartbeat_;
};

[[nodiscard]] inline bool is_bad(const harness::Row& row) {
  return row.outcome == harness::Outcome::error || row.outcome == harness::Outcome::wrong;
}

}  // namespace tutti::cli
