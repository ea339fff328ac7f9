// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/parallel_trees.hpp"

namespace tutti::patterns {

std::uint32_t ParallelTrees::num_parents(std::uint32_t bit) const {
  if (!has_child(0, bit)) return 0;
  return ((num_ranks_ - 1 - (std::uint32_t{1} << bit)) >> bit >> 1U) + 1;
}

}  // namespace tutti::patterns
