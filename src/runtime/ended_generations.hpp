// How the last generations of a rendezvous ended, for ranks that come late. Takes all its memory when it is made, so it
// can also note that there was none. A value with one owner; not thread-safe.
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

  // Null where it has not ended, or that is forgotten.
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
  std::size_t oldest_ = 0;  // once there are as many as can be
};

}  // namespace tutti
