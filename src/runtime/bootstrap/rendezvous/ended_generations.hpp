// SPDX-License-Identifier: Apache-2.0
// How the last generations of a rendezvous ended, for late ranks. Allocates all its memory up front, so it can also
// record a lack of memory. A value with one owner; not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.hpp"

namespace tutti {

struct EndedGeneration {
  std::uint64_t generation = 0;
  Status outcome;
  int missing = 0;  // ranks that had yet to come, and have not heard of it
};

class EndedGenerations {
 public:
  EndedGenerations() { kept_.reserve(kMost); }

  // Null if it has not ended, or its end is forgotten.
  [[nodiscard]] EndedGeneration* find(std::uint64_t generation) {
    const auto found = std::find_if(kept_.begin(), kept_.end(), [generation](const EndedGeneration& each) {
      return each.generation == generation;
    });
    return found == kept_.end() ? nullptr : &*found;
  }
  void add(const EndedGeneration& one) {
    if (kept_.size() < kMost) {
      kept_.push_back(one);
      return;
    }
    kept_[oldest_] = one;
    oldest_ = (oldest_ + 1) % kMost;
  }

 private:
  static constexpr std::size_t kMost = 1024;

  std::vector<EndedGeneration> kept_;
  std::size_t oldest_ = 0;  // once the list is full
};

}  // namespace tutti
