// SPDX-License-Identifier: Apache-2.0
// What happens next: a queue of events by their time, and of equal times by the order in which they were put in.
//
// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990): nothing is ever put in before the event taken last, so events
// wait in buckets by the highest bit in which their time differs from the present one, and each moves down at most once
// a bit. Times are not negative: their bits as a number are in the order of the times. Equal times share a bucket and
// keep their order in it. One thread at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "simulate/huge_pages.hpp"

namespace tutti::simulate {

template <typename What>
class EventQueue {
 public:
  struct Event {
    double time = 0;
    What what = {};
  };

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // `time` is none before the one popped last.
  void push(double time, What what) {
    put({time, what});
    ++size_;
  }

  // The earliest one, of a queue that is not empty.
  Event pop() {
    if (next_ == buckets_[0].size()) refill();
    --size_;
    return buckets_[0][next_++];
  }

  // One event after another, also those that are put in meanwhile, until there is none or `act` says no; how many.
  template <typename Act>
  std::uint64_t run(const Act& act) {
    for (std::uint64_t taken = 0;; ++taken) {
      if (empty()) return taken;
      const Event event = pop();
      if (!act(event)) return taken + 1;
    }
  }

 private:
  static constexpr std::size_t kBits = 64;

  static std::uint64_t key(double time) { return std::bit_cast<std::uint64_t>(time); }

  void put(const Event& event) {
    const std::uint64_t difference = key(event.time) ^ present_;
    const auto bucket = kBits - static_cast<std::size_t>(std::countl_zero(difference));
    buckets_[bucket].push_back(event);
    if (bucket != 0) waiting_ |= std::uint64_t{1} << (bucket - 1);
  }

  // Moves on to the earliest time that there is.
  void refill() {
    TUTTI_ASSERT(waiting_ != 0, "an event was taken from an empty queue");
    buckets_[0].clear();
    next_ = 0;
    const auto bucket = static_cast<std::size_t>(std::countr_zero(waiting_)) + 1;
    waiting_ &= waiting_ - 1;
    if (buckets_[bucket].size() == 1) {
      buckets_[0].push_back(buckets_[bucket][0]);
      buckets_[bucket].clear();
      present_ = key(buckets_[0][0].time);
      return;
    }
    moving_.swap(buckets_[bucket]);
    std::uint64_t least = UINT64_MAX;
    for (const Event& event : moving_) least = key(event.time) < least ? key(event.time) : least;
    present_ = least;
    for (const Event& event : moving_) put(event);
    moving_.clear();
  }

  std::array<HugeVector<Event>, kBits + 1> buckets_;  // [0]: the present time, of which `next_` have been taken
  HugeVector<Event> moving_;
  std::size_t next_ = 0;
  std::size_t size_ = 0;
  std::uint64_t present_ = 0;
  std::uint64_t waiting_ = 0;  // bit b: bucket b + 1 is not empty
};

}  // namespace tutti::simulate
