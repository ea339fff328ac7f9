// SPDX-License-Identifier: Apache-2.0
// k-nomial trees, against trees written down by hand and against what makes a tree one.
#include "algorithms/patterns/knomial.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace tutti::patterns {
namespace {

using Ranks = std::vector<std::uint32_t>;

TEST(Knomial, BinomialTreeOfEight) {
  const KnomialTree tree(8, 2);
  EXPECT_EQ(tree.children(0), (Ranks{1, 2, 4}));
  EXPECT_EQ(tree.children(4), (Ranks{5, 6}));
  EXPECT_EQ(tree.children(6), (Ranks{7}));
  EXPECT_EQ(tree.children(7), Ranks{});
  EXPECT_EQ(tree.parent(7), 6U);
  EXPECT_EQ(tree.parent(6), 4U);
  EXPECT_EQ(tree.parent(0), std::nullopt);
  EXPECT_EQ(tree.subtree(4), (RankRun{4, 4}));
  EXPECT_EQ(tree.num_digits(), 3U);
}

TEST(Knomial, RotatedAndCutShort) {
  const KnomialTree tree(8, 3, 6);  // places 0 … 7 are ranks 6, 7, 0, 1, 2, 3, 4, 5
  EXPECT_EQ(tree.children(6), (Ranks{7, 0, 1, 4}));
  EXPECT_EQ(tree.children(1), (Ranks{2, 3}));
  EXPECT_EQ(tree.children(4), (Ranks{5}));
  EXPECT_EQ(tree.parent(5), 4U);
  EXPECT_EQ(tree.parent(4), 6U);
  EXPECT_EQ(tree.subtree(4), (RankRun{4, 2}));
  EXPECT_EQ(tree.subtree(6), (RankRun{6, 8}));
  EXPECT_EQ(tree.num_digits(), 2U);
}

TEST(Knomial, AGreatRadixIsAStar) {
  const KnomialTree tree(5, 7, 2);
  EXPECT_EQ(tree.children(2), (Ranks{3, 4, 0, 1}));
  EXPECT_EQ(tree.num_digits(), 1U);
}

// The subtrees of a rank's children follow one behind the other, right behind the rank; all ranks are in the root's.
TEST(Knomial, SubtreesPartitionTheRanks) {
  for (std::uint32_t ranks = 1; ranks <= 40; ++ranks) {
    for (std::uint32_t radix = 2; radix <= 8; ++radix) {
      for (const std::uint32_t root : {0U, ranks / 2, ranks - 1}) {
        const KnomialTree tree(ranks, radix, root);
        EXPECT_EQ(tree.subtree(root), (RankRun{root, ranks}));
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          std::uint32_t next = rank + 1;
          std::uint32_t count = 1;
          for (const std::uint32_t child : tree.children(rank)) {
            EXPECT_EQ(child, next % ranks);
            EXPECT_EQ(tree.parent(child), rank);
            next += tree.subtree(child).count;
            count += tree.subtree(child).count;
          }
          EXPECT_EQ(tree.subtree(rank), (RankRun{rank, count})) << ranks << " ranks, radix " << radix;
          EXPECT_LE(tree.children(rank).size(), std::size_t{radix - 1} * tree.num_digits());
        }
      }
    }
  }
}

TEST(Knomial, HighestNumbersDoNotOverflow) {
  const std::uint32_t ranks = 4'000'000'000;
  const KnomialTree tree(ranks, 65536, ranks - 1);
  EXPECT_EQ(tree.num_digits(), 2U);
  EXPECT_EQ(tree.parent(ranks - 2), (ranks - 1) / 65536 * 65536 - 1);  // places are ranks + 1
  EXPECT_EQ(tree.subtree(ranks - 1).count, ranks);
}

}  // namespace
}  // namespace tutti::patterns
