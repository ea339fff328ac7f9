// SPDX-License-Identifier: Apache-2.0
// How far a host's monotonic clock is from that of the first host, as messages there and back show. Values;
// thread-safe.
#pragma once

#include <cstdint>

namespace tutti::harness {

// All in nanoseconds.
struct ClockOffset {
  std::int64_t at = 0;      // when it was so, by this host's clock
  std::int64_t offset = 0;  // this host's clock less the first host's
  std::int64_t error = 0;   // it is wrong by this at most, however unlike the two ways are
};

// Of one question: sent and answered by this host's clock; `told` is what the first host's showed in between.
[[nodiscard]] ClockOffset offset_of(std::int64_t sent, std::int64_t told, std::int64_t answered);
// The one that is known better; the later of two that are known alike.
[[nodiscard]] ClockOffset better(const ClockOffset& earlier, const ClockOffset& later);

// From what was measured before and behind a round.
class HostClock {
 public:
  // The same clock as the first host's.
  HostClock() = default;

  void begin(const ClockOffset& before) {
    before_ = before;
    behind_ = before;
  }
  void end(const ClockOffset& behind) { behind_ = behind; }

  // While the round lasts: when this host's clock will show what the first host's shows at `common`.
  [[nodiscard]] std::int64_t local(std::int64_t common) const { return common + before_.offset; }
  // Afterwards: what the first host's clock showed. Clocks drift evenly within a round.
  [[nodiscard]] std::int64_t common(std::int64_t local) const;

 private:
  ClockOffset before_;
  ClockOffset behind_;
};

}  // namespace tutti::harness
