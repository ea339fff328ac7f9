// SPDX-License-Identifier: Apache-2.0
// Costs against their closed forms.
#include "schedule/cost.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"

namespace tutti {
namespace {

Cost cost(std::string_view name, std::uint32_t ranks) {
  return cost_of(find_algorithm(Collective::all_reduce, name)->make({.num_ranks = ranks}));
}

TEST(Cost, RingMovesTheLeastThereCanBe) {
  for (const std::uint32_t n : {2U, 3U, 8U, 17U}) {
    const Cost ring = cost("ring", n);
    EXPECT_EQ(ring.num_pieces, n);
    EXPECT_EQ(ring.total.messages, std::uint64_t{2} * n * (n - 1));
    for (const RankCost& rank : ring.ranks) {
      EXPECT_EQ(rank.messages, 2 * (n - 1));
      EXPECT_EQ(rank.pieces_out(), 2 * (n - 1));  // of n: 2(n-1)/n of the buffer
      EXPECT_EQ(rank.pieces_in(), 2 * (n - 1));
      EXPECT_EQ(rank.steps, 2 * (n - 1) + 1);  // the first send has nothing to be fused with
    }
    EXPECT_EQ(ring.longest_path, 2 * (n - 1));
    EXPECT_EQ(ring.roundings, n - 1);
  }
}

TEST(Cost, OneShotReadsEverybodyOnce) {
  for (const std::uint32_t n : {2U, 5U, 16U}) {
    const Cost one_shot = cost("one_shot", n);
    EXPECT_EQ(one_shot.num_pieces, 1U);
    EXPECT_EQ(one_shot.most.pieces_in(), n - 1);
    EXPECT_EQ(one_shot.most.pieces_out(), 0U);
    EXPECT_EQ(one_shot.total.messages, 0U);
    EXPECT_EQ(one_shot.most.steps, 3U);
    EXPECT_EQ(one_shot.longest_path, 1U);
    EXPECT_EQ(one_shot.roundings, 1U);
  }
}

TEST(Cost, TwoShotReadsAndWritesItsOwnPart) {
  for (const std::uint32_t n : {2U, 5U, 16U}) {
    const Cost two_shot = cost("two_shot", n);
    EXPECT_EQ(two_shot.num_pieces, n);
    EXPECT_EQ(two_shot.most.pieces_pulled, n - 1);
    EXPECT_EQ(two_shot.most.pieces_pushed, n - 1);
    EXPECT_EQ(two_shot.most.steps, 5U);
    EXPECT_EQ(two_shot.longest_path, 2U);
    EXPECT_EQ(two_shot.roundings, 1U);
  }
}

}  // namespace
}  // namespace tutti
