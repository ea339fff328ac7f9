// The ways of Bruck's all-to-all: a block that is to travel `offset` ranks to the right goes one hop for each digit of
// the offset that is not 0, the lowest first; the hop of a digit d at value k^x is d·k^x ranks long.
//
// A rank treats the offsets of one value from the highest to the lowest, sends the block that it has of an offset, and
// then receives the next of the same offset in its place. Pure functions; thread-safe.
#pragma once

#include <cstdint>

namespace tutti::patterns {

class DigitRoute {
 public:
  // The radix is at least 2.
  DigitRoute(std::uint32_t num_ranks, std::uint32_t radix);

  // How many ranks to the right a block of this offset goes at this value, a power of the radix; 0 where it rests.
  [[nodiscard]] std::uint64_t hop(std::uint32_t offset, std::uint64_t value) const {
    return offset / value % radix_ * value;
  }
  // Given that it goes at this value: whether nothing has moved it before, and whether nothing will afterwards.
  [[nodiscard]] bool is_first_hop(std::uint32_t offset, std::uint64_t value) const { return offset % value == 0; }
  [[nodiscard]] bool is_last_hop(std::uint32_t offset, std::uint64_t value) const { return offset / value < radix_; }
  // The value of the hop before the one at `value`, which is not its first.
  [[nodiscard]] std::uint64_t hop_before(std::uint32_t offset, std::uint64_t value) const;
  // The place of a hop among all that a rank treats.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t offset, std::uint64_t value) const;

  // In place, the block that comes in over `offset` ranks replaces the one that goes out to where it came from, over
  // N - offset ranks. Whether that one has gone by then.
  [[nodiscard]] bool finds_room(std::uint32_t offset) const;

 private:
  // How many of the offsets from `offset` on rest at this value.
  [[nodiscard]] std::uint64_t num_resting(std::uint32_t offset, std::uint64_t value) const;

  std::uint32_t num_ranks_;
  std::uint32_t radix_;
};

}  // namespace tutti::patterns
