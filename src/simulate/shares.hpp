// SPDX-License-Identifier: Apache-2.0
// What a stretch of time went for, along the chain of what waited for what. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tutti::simulate {

enum class Share : std::uint8_t {
  launch,     // of the operation, and its finish
  overhead,   // cores, with messages, posts and waits
  latency,    // of links
  bytes,      // crossing the slowest link of their way, or as fast as who reads or stores them can
  link_wait,  // for links that others use
  core_wait,  // for a core that is busy with something else
  peer_wait,  // until a peer had room for one more message
  copying,    // in memory
  reducing,   // memory and arithmetic of folds
};
inline constexpr int kNumShares = 9;
inline constexpr std::array<std::string_view, kNumShares> kShareNames = {
    "launch", "overhead", "latency", "bytes", "link_wait", "core_wait", "peer_wait", "copying", "reducing"};
[[nodiscard]] inline std::string_view name_of(Share share) { return kShareNames[static_cast<std::size_t>(share)]; }

class Shares {
 public:
  void add(Share share, double time) { times_[static_cast<std::size_t>(share)] += time; }
  [[nodiscard]] double of(Share share) const { return times_[static_cast<std::size_t>(share)]; }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double time : times_) sum += time;
    return sum;
  }

 private:
  std::array<double, kNumShares> times_ = {};
};

// When something happened, and what the time until then went for.
struct Moment {
  double time = -1;  // negative: it has not happened
  Shares shares;
};

}  // namespace tutti::simulate
