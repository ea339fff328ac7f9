// SPDX-License-Identifier: Apache-2.0
// Notices that a foreign process keeps busy the core on which several ranks take turns.
//
// A rank that shares its core yields while it waits. Where all others on that core are ranks, a yield takes
// microseconds, or as long as one of them computes. Where a foreign process is always ready to run there, each yield
// lasts a time slice of the scheduler (about 2 ms), and a call of 2 µs takes as long.
//
// So one yield in kYieldsPerSample is timed. A long one opens a window in which every yield is timed. At its end, the
// processor time of the other ranks on these cores is taken from the time of the long yields. If what is left is a
// quarter of the window, the watch calls `leave` once and is done; else it goes back to sampling.
//
// Belongs to one rank and one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace tutti::shm {

class CoreWatch {
 public:
  // What the watch sees and does; tests have a scheduler of their own.
  struct Senses {
    std::function<std::chrono::nanoseconds()> now;
    // Processor time that the other ranks on these cores have used; nothing where the system does not tell.
    std::function<std::optional<std::chrono::nanoseconds>()> time_of_ranks;
    std::function<void()> yield;
    // Asks for more cores.
    std::function<void()> leave;
  };

  static constexpr std::uint32_t kYieldsPerSample = 16;
  static constexpr std::chrono::microseconds kLongYield{500};
  static constexpr std::chrono::milliseconds kWindow{50};
  // The share of the window from which the core counts as busy, as a divisor.
  static constexpr int kForeignShare = 4;

  explicit CoreWatch(Senses senses) : senses_(std::move(senses)) {}

  // Yields the core.
  void yield() {
    if (--until_sample_ > 0) [[likely]]
      return senses_.yield();
    until_sample_ = kYieldsPerSample;
    timed_yield();
  }
  [[nodiscard]] bool has_left() const { return has_left_; }

 private:
  using Nanoseconds = std::chrono::nanoseconds;

  void timed_yield();
  void look_at_window(Nanoseconds from, Nanoseconds to);

  Senses senses_;
  std::uint32_t until_sample_ = kYieldsPerSample;
  bool has_left_ = false;
  bool is_suspicious_ = false;
  Nanoseconds window_start_{0};
  Nanoseconds long_yields_{0};               // of the window
  std::optional<Nanoseconds> ranks_before_;  // their time at its start
};

}  // namespace tutti::shm
