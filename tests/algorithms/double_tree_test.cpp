// SPDX-License-Identifier: Apache-2.0
// The two trees: each is one, nobody has children in both, and nobody meets the same rank in both.
#include "algorithms/patterns/double_tree.hpp"

#include <bit>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::patterns {
namespace {

using Maybe = std::optional<std::uint32_t>;

std::vector<std::uint32_t> children(const DoubleTree& trees, std::uint32_t tree, std::uint32_t rank) {
  std::vector<std::uint32_t> found;
  if (const Maybe lower = trees.lower_child(tree, rank)) found.push_back(*lower);
  if (const Maybe upper = trees.upper_child(tree, rank)) found.push_back(*upper);
  return found;
}

std::uint32_t depth(const DoubleTree& trees, std::uint32_t tree, std::uint32_t rank) {
  std::uint32_t steps = 0;
  for (Maybe above = trees.parent(tree, rank); above; above = trees.parent(tree, *above)) ++steps;
  return steps;
}

TEST(DoubleTree, TheFirstOfSixByHand) {
  //     3
  //   1   5     ranks; their places are one more
  //  0 2 4
  const DoubleTree trees(6);
  EXPECT_EQ(children(trees, 0, 3), (std::vector<std::uint32_t>{1, 5}));
  EXPECT_EQ(children(trees, 0, 1), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(children(trees, 0, 5), (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(trees.parent(0, 3), std::nullopt);
  EXPECT_EQ(trees.parent(0, 4), 5U);
}

TEST(DoubleTree, CutOffTreesLetTheNextBestStepIn) {
  const DoubleTree trees(11);  // places 12, 14, 15 and so on are not there; 10 takes the place of 12
  EXPECT_EQ(trees.parent(0, 9), 7U);
  EXPECT_EQ(children(trees, 0, 7), (std::vector<std::uint32_t>{3, 9}));
  EXPECT_EQ(trees.parent(0, 10), 9U);
}

std::vector<std::uint32_t> many_numbers() {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t ranks = 1; ranks <= 130; ++ranks) numbers.push_back(ranks);
  for (const std::uint32_t ranks : {255U, 256U, 257U, 1000U, 1023U, 1024U, 1025U}) numbers.push_back(ranks);
  return numbers;
}

TEST(DoubleTree, BothAreTreesOfTheLeastHeight) {
  for (const std::uint32_t ranks : many_numbers()) {
    const DoubleTree trees(ranks);
    for (std::uint32_t tree = 0; tree < 2; ++tree) {
      std::uint32_t num_roots = 0;
      std::uint32_t num_children = 0;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        num_roots += trees.parent(tree, rank) ? 0 : 1;
        EXPECT_LT(depth(trees, tree, rank), static_cast<std::uint32_t>(std::bit_width(ranks)));
        for (const std::uint32_t child : children(trees, tree, rank)) {
          EXPECT_EQ(trees.parent(tree, child), rank) << "tree " << tree << " of " << ranks;
          ++num_children;
        }
      }
      EXPECT_EQ(num_roots, 1U);
      EXPECT_EQ(num_children, ranks - 1);
    }
  }
}

TEST(DoubleTree, NobodyHasChildrenInBoth) {
  for (const std::uint32_t ranks : many_numbers()) {
    const DoubleTree trees(ranks);
    std::uint32_t in_neither = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const bool in_first = !children(trees, 0, rank).empty();
      const bool in_second = !children(trees, 1, rank).empty();
      EXPECT_FALSE(in_first && in_second) << "rank " << rank << " of " << ranks;
      in_neither += in_first || in_second ? 0 : 1;
    }
    EXPECT_EQ(in_neither, ranks % 2) << ranks << " ranks";
  }
}

TEST(DoubleTree, NoTwoRanksAreNeighboursInBoth) {
  for (const std::uint32_t ranks : many_numbers()) {
    if (ranks < kDisjointTrees) continue;
    const DoubleTree trees(ranks);
    std::set<std::pair<std::uint32_t, std::uint32_t>> first;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      if (const Maybe parent = trees.parent(0, rank)) first.insert(std::minmax({rank, *parent}));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const Maybe parent = trees.parent(1, rank);
      if (!parent) continue;
      EXPECT_FALSE(first.contains(std::minmax({rank, *parent}))) << rank << " and " << *parent << " of " << ranks;
    }
  }
}

}  // namespace
}  // namespace tutti::patterns
