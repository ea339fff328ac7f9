// SPDX-License-Identifier: Apache-2.0
// Where in a slot lies what is put there.
//
// What has been read is in its reader's own cache, and has to be fetched back from there before it can be written
// again. Where a cache that the cores share is nearer than that, it pays to come back to a place late, when neither
// core has it any more. So slots have more room than they need, and what is put into one takes turns to lie here and
// there in it (docs/decisions/0036). Both ends reckon alike, from what they have agreed on.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tutti::shm {

// The places for what takes so many bytes.
struct Places {
  std::uint32_t number = 1;
  std::uint64_t stride = 0;  // bytes

  // Behind the beginning of its slot, for number `count` of what is put into so many slots in turn.
  [[nodiscard]] std::uint64_t begin(std::uint64_t count, std::uint64_t slots) const {
    return number == 1 ? 0 : static_cast<std::uint32_t>(count / slots) % number * stride;
  }
};

// Over how many bytes payloads rotate; shorter ones than `payload_least` stay where they are, for they stay in the
// first cache, or nearly so.
struct SpreadOver {
  std::uint64_t bytes = 0;
  std::uint64_t payload_least = 0;
};

class Spread {
 public:
  Spread() = default;  // everything lies at the beginning of its slot
  // Of slots that are used in turn and have so much room each.
  Spread(const SpreadOver& over, std::uint64_t slots, std::uint64_t room)
      : payload_least_(over.payload_least), share_(std::min(over.bytes / slots, room)) {}

  [[nodiscard]] Places places(std::uint64_t bytes) const {
    if (bytes < payload_least_ || 2 * bytes > share_) return {};
    const std::uint64_t stride = (bytes + kUnit - 1) / kUnit * kUnit;
    return {std::clamp(static_cast<std::uint32_t>(share_ / stride), 1U, kMost), stride};
  }

 private:
  static constexpr std::uint64_t kUnit = 4096;
  static constexpr std::uint32_t kMost = 32;

  std::uint64_t payload_least_ = 0;
  std::uint64_t share_ = 0;  // of each slot
};

}  // namespace tutti::shm
