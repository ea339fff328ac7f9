// SPDX-License-Identifier: Apache-2.0
// What a piece holds, as a number: the sum over all contributions in it of (what the rank is) × (what the piece is).
// Folding adds, so a contribution that is missing, doubled, or of another piece shows, but for one chance in 2^60 or
// so. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::simulate {

using Fingerprint = std::uint64_t;

// Spreads a number over all bits (the finalizer of SplitMix64: Steele, Lea, Flood 2014).
[[nodiscard]] constexpr std::uint64_t spread(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15;
  number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27U)) * 0x94D049BB133111EB;
  return number ^ (number >> 31U);
}

[[nodiscard]] constexpr Fingerprint of_rank(std::uint32_t rank) { return spread(rank) | 1U; }
[[nodiscard]] constexpr Fingerprint of_piece(std::uint32_t block, std::uint32_t piece) {
  return spread(std::uint64_t{block} << 32U | piece | std::uint64_t{1} << 63U) | 1U;
}
[[nodiscard]] constexpr Fingerprint contribution(std::uint32_t rank, std::uint32_t block, std::uint32_t piece) {
  return of_rank(rank) * of_piece(block, piece);
}

// The sums of of_rank() over the ranks below each, so that what a result must be takes one step to say.
class RankSums {
 public:
  explicit RankSums(std::uint32_t num_ranks) : below_(std::size_t{num_ranks} + 1) {
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) below_[rank + 1] = below_[rank] + of_rank(rank);
  }
  // What the contributions of the ranks `first` to `end` - 1 to a piece add up to.
  [[nodiscard]] Fingerprint fold(std::uint32_t first, std::uint32_t end, std::uint32_t block,
                                 std::uint32_t piece) const {
    return (below_[end] - below_[first]) * of_piece(block, piece);
  }

 private:
  std::vector<Fingerprint> below_;
};

}  // namespace tutti::simulate
