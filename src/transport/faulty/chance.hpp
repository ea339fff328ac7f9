// SPDX-License-Identifier: Apache-2.0
// What a faulty endpoint draws, and the steps that it counts time in. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "transport/faulty/endpoint.hpp"

namespace tutti::transport::faulty {

class Chance {
 public:
  explicit Chance(const Faults& faults) : faults_(faults), random_(faults.seed) {}

  [[nodiscard]] const Faults& faults() const { return faults_; }
  void count_step() { ++now_; }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  void count_message() { ++messages_; }
  [[nodiscard]] bool is_to_cut() const { return faults_.cut_after > 0 && messages_ >= faults_.cut_after; }
  [[nodiscard]] std::size_t one_of(std::size_t count) { return random_() % count; }
  [[nodiscard]] bool hits(std::uint32_t share) { return random_() % 100 < share; }
  // The step before which nothing is to happen: most often this one, else a near one, and now and then a distant one.
  [[nodiscard]] std::uint64_t due(std::uint32_t share) {
    if (!hits(share)) return now_;
    const std::uint64_t most = hits(12) ? faults_.longest : kNear;
    return now_ + 1 + random_() % (most + 1);
  }

 private:
  static constexpr std::uint64_t kNear = 10;

  Faults faults_;
  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
  std::uint64_t messages_ = 0;
};

}  // namespace tutti::transport::faulty
