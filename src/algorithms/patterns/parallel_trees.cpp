#include "algorithms/patterns/parallel_trees.hpp"

namespace tutti::patterns {

std::uint32_t ParallelTrees::num_parents(std::uint32_t bit) const {
  if (!has_child(0, bit)) return 0;
  return ((num_ranks_ - 1 - (std::uint32_t{1} << bit)) >> bit >> 1U) + 1;
}

std::uint32_t ParallelTrees::turn_of(std::uint32_t place) const {
  const std::uint32_t bit = bit_above(place);
  // All places that end in more zeros have come before.
  return ((num_ranks_ - 1) >> bit >> 1U) + (place >> bit >> 1U);
}

}  // namespace tutti::patterns
