// SPDX-License-Identifier: Apache-2.0
// The trees of PAT, against the binomial tree and their edges bit by bit.
#include "algorithms/patterns/parallel_trees.hpp"

#include <bit>

#include <gtest/gtest.h>

#include "algorithms/patterns/knomial.hpp"

namespace tutti::patterns {
namespace {

TEST(ParallelTrees, AreBinomialTrees) {
  for (std::uint32_t n = 1; n <= 70; ++n) {
    const ParallelTrees trees(n);
    const KnomialTree binomial(n, 2);
    EXPECT_EQ(trees.num_bits(), binomial.num_digits()) << n;
    for (std::uint32_t place = 0; place < n; ++place) {
      std::vector<std::uint32_t> children;
      const std::uint32_t bits = place == 0 ? trees.num_bits() : static_cast<std::uint32_t>(std::countr_zero(place));
      for (std::uint32_t bit = 0; bit < bits; ++bit)
        if (trees.has_child(place, bit)) children.push_back(place + (1U << bit));
      EXPECT_EQ(children, binomial.children(place));
      if (place == 0) continue;
      EXPECT_EQ(place - (1U << static_cast<std::uint32_t>(std::countr_zero(place))), binomial.parent(place));
    }
  }
}

TEST(ParallelTrees, CountTheEdgesOfABit) {
  for (std::uint32_t n = 1; n <= 70; ++n) {
    const ParallelTrees trees(n);
    std::uint32_t edges = 0;
    for (std::uint32_t bit = trees.num_bits(); bit-- > 0;) {
      std::uint32_t parents = 0;
      for (std::uint32_t place = 0; place < n; place += 2U << bit) parents += trees.has_child(place, bit) ? 1 : 0;
      EXPECT_EQ(trees.num_parents(bit), parents) << n << " ranks, bit " << bit;
      edges += parents;
    }
    EXPECT_EQ(edges, n - 1) << "all places but the root's";
  }
  EXPECT_EQ(ParallelTrees(16).num_parents(3), 1U);
  EXPECT_EQ(ParallelTrees(16).num_parents(0), 8U);
  EXPECT_EQ(ParallelTrees(16).num_parents(4), 0U);
}

}  // namespace
}  // namespace tutti::patterns
