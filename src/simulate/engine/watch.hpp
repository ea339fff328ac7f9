// SPDX-License-Identifier: Apache-2.0
// Whether a simulation is to end, asked as often as there is work done: within a fraction of a second, whatever the
// schedule. Borrows who knows; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>

namespace tutti::simulate {

class Watch {
 public:
  explicit Watch(const std::function<bool()>& is_interrupted) : is_interrupted_(is_interrupted) {}

  // That much has been done since: an event, an end of a step, a link of a way are one each. Once over, always over.
  bool is_over(std::uint64_t work) {
    if (work < left_) [[likely]] {
      left_ -= work;
      return false;
    }
    if (!is_over_ && !is_interrupted_()) {
      left_ = kBetweenLooks;
    } else {
      is_over_ = true;
      left_ = 0;
    }
    return is_over_;
  }

 private:
  static constexpr std::uint64_t kBetweenLooks = std::uint64_t{1} << 16U;

  const std::function<bool()>& is_interrupted_;
  std::uint64_t left_ = 1;  // the first look is at once
  bool is_over_ = false;
};

}  // namespace tutti::simulate
