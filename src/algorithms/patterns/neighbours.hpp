// SPDX-License-Identifier: Apache-2.0
// Neighbour exchange: ranks on a ring of even length exchange with the neighbour on one side and on the other in turn.
// Ranks 2q and 2q+1 are pair q; in step 0 the two of a pair exchange their own blocks, and from then on every step
// moves two blocks, those of a pair.
//
// Values and pure functions; thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace tutti::patterns {

class NeighbourExchange {
 public:
  // The number of ranks is even.
  explicit NeighbourExchange(std::uint32_t num_ranks) : num_ranks_(num_ranks) {}

  [[nodiscard]] std::uint32_t num_steps() const { return num_ranks_ / 2; }
  [[nodiscard]] std::uint32_t partner(std::uint32_t rank, std::uint32_t step) const;
  // The blocks that the rank receives in a step from 1 on, in their order: the one that has come further first.
  [[nodiscard]] std::array<std::uint32_t, 2> received(std::uint32_t rank, std::uint32_t step) const;

 private:
  std::uint32_t num_ranks_;
};

}  // namespace tutti::patterns
