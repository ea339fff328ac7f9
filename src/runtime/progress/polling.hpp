// SPDX-License-Identifier: Apache-2.0
// What a rank that tests again and again, and never waits, knows of its patience: how long nothing has gone on, and
// when it is time to ask whether anything ever will. One thread at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace tutti {

class Polling {
 public:
  // After a test that found no end, with something that grows with every step. Now and then: how long it has not grown
  // as far as there were tests; the caller is then to ask. `now()` is the clock, which few tests read.
  template <typename Now>
  [[nodiscard]] std::optional<std::chrono::nanoseconds> stuck_for(std::uint64_t progress, const Now& now) {
    if (progress != progress_) {
      progress_ = progress;
      forget();
    }
    if (++tests_ < between_) return std::nullopt;
    tests_ = 0;
    const std::chrono::nanoseconds present = now();
    const std::optional<std::chrono::nanoseconds> last = std::exchange(last_, present);
    if (!last) return std::nullopt;
    const std::chrono::nanoseconds gap = present - *last;
    // A clock is read now and then, however far the tests are apart.
    between_ = gap > kBetweenClocks ? std::max(between_ / 4, 1U) : std::min(between_ * 2, kMostBetween);
    // Who did something else for long has not waited for long.
    stuck_ += std::min(gap, kMostGap);
    if (stuck_ < next_question_) return std::nullopt;
    next_question_ = stuck_ + kBetweenQuestions;
    return stuck_;
  }

  // Nothing is tested any more.
  void forget() {
    tests_ = 0;
    between_ = std::min(between_, kFirstBetween);
    last_.reset();
    stuck_ = {};
    next_question_ = kFirstQuestion;
  }

 private:
  static constexpr std::uint32_t kFirstBetween = 4;
  static constexpr std::uint32_t kMostBetween = 256;
  static constexpr std::chrono::nanoseconds kBetweenClocks{100'000};
  static constexpr std::chrono::nanoseconds kMostGap{1'000'000'000};
  // As in a wait.
  static constexpr std::chrono::nanoseconds kFirstQuestion{1'000'000};
  static constexpr std::chrono::nanoseconds kBetweenQuestions{20'000'000};

  std::uint64_t progress_ = 0;
  std::uint32_t tests_ = 0;
  std::uint32_t between_ = kFirstBetween;
  std::optional<std::chrono::nanoseconds> last_;
  std::chrono::nanoseconds stuck_{};
  std::chrono::nanoseconds next_question_ = kFirstQuestion;
};

}  // namespace tutti
