// SPDX-License-Identifier: Apache-2.0
// The progress of a milestone and the time left: on a terminal one line that is overwritten, elsewhere a line every
// 30 s. note() is for any thread, one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include <unistd.h>

#include "bench/measure/estimate.hpp"
#include "cli/command.hpp"
#include "cli/heartbeat.hpp"

namespace tutti::cli {

// What is left of `expected` seconds once cases that were expected to take `done` of them have taken `spent`, and the
// next one has begun `since` seconds ago. What was expected counts a little, since a few cases say little of others.
// Pure.
[[nodiscard]] double seconds_left_of(double expected, double done, double spent, double since);

class MakeProgress {
 public:
  MakeProgress(const Context& context, std::size_t num_cases, double expected_seconds,
               bool is_terminal = ::isatty(STDERR_FILENO) != 0);
  ~MakeProgress();
  MakeProgress(const MakeProgress&) = delete;
  MakeProgress& operator=(const MakeProgress&) = delete;

  // A case is done that was expected to take this long.
  void note(std::string_view part, std::string_view name, double expected_seconds);
  [[nodiscard]] std::size_t num_done() const { return num_done_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double seconds_since_begin() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  [[nodiscard]] double seconds_left() const;

  const Context& context_;
  std::size_t num_cases_;
  double expected_;
  bool is_terminal_;
  Clock::time_point begin_ = Clock::now();
  std::atomic<std::size_t> num_done_ = 0;
  std::atomic<double> expected_done_ = 0;
  std::atomic<double> spent_ = 0;  // until the last case was done
  std::optional<Heartbeat> heartbeat_;
};

}  // namespace tutti::cli
