// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/neighbours.hpp"

namespace tutti::patterns {

std::uint32_t NeighbourExchange::partner(std::uint32_t rank, std::uint32_t step) const {
  const bool to_the_right = rank % 2 == step % 2;
  return (rank + (to_the_right ? 1 : num_ranks_ - 1)) % num_ranks_;
}

std::array<std::uint32_t, 2> NeighbourExchange::received(std::uint32_t rank, std::uint32_t step) const {
  const bool from_the_right = rank % 2 == step % 2;
  const std::uint32_t pairs = num_ranks_ / 2;
  // Every second step brings a pair from the same side, one pair further away each time.
  const std::uint32_t distance = (step + 1) / 2;
  const std::uint32_t pair = (rank / 2 + (from_the_right ? distance : pairs - distance)) % pairs;
  const std::uint32_t even = 2 * pair;
  // A pair sets out from the side where it goes: to the left its even rank has sent its own block first.
  if (from_the_right) return {even, even + 1};
  return {even + 1, even};
}

}  // namespace tutti::patterns
