// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/pairing.hpp"

#include "base/assert.hpp"

namespace tutti::patterns {

Pairing::Pairing(std::uint32_t num_ranks) : num_ranks_(num_ranks), circle_(num_ranks - (num_ranks + 1) % 2) {
  TUTTI_ASSERT(num_ranks > 0, "a pairing is one of ranks");
}

// On the circle, ranks a and b meet in step (a + b) mod circle, so a meets itself in step 2a.
std::uint32_t Pairing::partner(std::uint32_t rank, std::uint32_t step) const {
  if (step == circle_) return rank;
  const std::uint64_t circle = circle_;
  // Half of the step, where halving is by the inverse of 2: (circle + 1) / 2.
  if (rank == circle_) return static_cast<std::uint32_t>(step * ((circle + 1) / 2) % circle);
  const auto other = static_cast<std::uint32_t>((step + circle - rank) % circle);
  return other == rank && circle_ != num_ranks_ ? circle_ : other;
}

std::uint32_t Pairing::step_of(std::uint32_t rank, std::uint32_t other) const {
  const bool has_middle = circle_ != num_ranks_;
  if (has_middle && rank == other) return circle_;
  const std::uint64_t first = has_middle && rank == circle_ ? other : rank;
  const std::uint64_t second = has_middle && other == circle_ ? rank : other;
  return static_cast<std::uint32_t>((first + second) % circle_);
}

std::uint32_t Pairing::turn_of(std::uint32_t rank, std::uint32_t other) const {
  const std::uint32_t step = step_of(rank, other);
  return step_of(rank, rank) < step ? step - 1 : step;
}

}  // namespace tutti::patterns
