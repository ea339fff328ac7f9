// SPDX-License-Identifier: Apache-2.0
// Happens-before by vector clocks over lanes, and the accesses to a piece that it has to order.
//
// A lane counts its steps; a Clock says, for each lane of all ranks, how many of its steps are known to have happened.
// What a lane knows at some moment is handed on as a Moment, which shares the clock with the lane until one of the two
// changes: most messages copy nothing. Values; one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tutti {

// What `lane` knew when it had counted to `time`.
struct Moment {
  std::shared_ptr<const std::vector<std::uint32_t>> known;  // null: nothing but itself
  std::uint32_t lane = 0;
  std::uint32_t time = 0;
};

class Clock {
 public:
  // By lane: how many of its steps have happened.
  using Known = std::shared_ptr<const std::vector<std::uint32_t>>;

  Clock(std::uint32_t lane, std::uint32_t num_lanes) : lane_(lane), num_lanes_(num_lanes) {}

  void tick() { ++time_; }
  [[nodiscard]] std::uint32_t time() const { return time_; }
  [[nodiscard]] Moment now() const { return {known_, lane_, time_}; }
  // Whatever had happened for `moment` has now happened for this lane.
  void join(const Moment& moment);
  void join(const Known& known);
  [[nodiscard]] bool knows(std::uint32_t lane, std::uint32_t time) const {
    if (lane == lane_) return time <= time_;
    return time == 0 || (known_ != nullptr && (*known_)[lane] >= time);
  }

 private:
  std::uint32_t lane_;
  std::uint32_t num_lanes_;
  std::uint32_t time_ = 0;
  // Shared with moments, so changed only where nobody else has it. The lane's own entry is time_, not in here.
  std::shared_ptr<std::vector<std::uint32_t>> known_;
  Known joined_;  // the last that was joined: it need not be again
};

struct Access {
  std::uint32_t lane = 0;
  std::uint32_t time = 0;  // 0: before everything
};

// The accesses to one piece that a later one could conflict with.
class AccessHistory {
 public:
  // Records the access, and returns an earlier one that it conflicts with and that is not ordered before it.
  std::optional<Access> read(const Clock& clock, Access access);
  std::optional<Access> write(const Clock& clock, Access access);

 private:
  Access write_;
  Access read_;                // one since the write, and
  std::vector<Access> reads_;  // the others that are not known to be before one another
};

}  // namespace tutti
