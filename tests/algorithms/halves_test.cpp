// SPDX-License-Identifier: Apache-2.0
// Halves of halves, against bits where the ranks are a power of two, and against what makes them right elsewhere.
#include "algorithms/patterns/halves.hpp"

#include <gtest/gtest.h>

namespace tutti::patterns {
namespace {

TEST(Halves, SevenRanksByHand) {
  EXPECT_EQ(cuts_around(5, 7), (std::vector<Halves>{{0, 4, 7}, {4, 6, 7}, {4, 5, 6}}));
  EXPECT_EQ(cuts_around(6, 7), (std::vector<Halves>{{0, 4, 7}, {4, 6, 7}}));
  EXPECT_TRUE(cuts_around(0, 1).empty());
  const Halves all{0, 4, 7};
  EXPECT_EQ(all.own(5), (RankRun{4, 3}));
  EXPECT_EQ(all.other(5), (RankRun{0, 4}));
  EXPECT_EQ(all.counterpart(1), 5U);
  EXPECT_EQ(all.counterpart(3), 6U) << "it has no place there, and the last stands for it";
  EXPECT_EQ(all.followers(3), (RankRun{4, 0}));
  EXPECT_EQ(all.followers(6), (RankRun{2, 2}));
  EXPECT_EQ(all.followers(4), (RankRun{0, 1}));
}

TEST(Halves, OfAPowerOfTwoAreBits) {
  for (std::uint32_t n = 1, bits = 0; n <= 64; n *= 2, ++bits) {
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      const std::vector<Halves> cuts = cuts_around(rank, n);
      ASSERT_EQ(cuts.size(), bits);
      for (std::uint32_t cut = 0; cut < bits; ++cut) EXPECT_EQ(cuts[cut].counterpart(rank), rank ^ (n >> (cut + 1)));
    }
  }
}

TEST(Halves, FollowersAreThoseWhoseCounterpartOneIs) {
  for (std::uint32_t n = 2; n <= 40; ++n) {
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      for (const Halves& cut : cuts_around(rank, n)) {
        const RankRun followers = cut.followers(rank);
        for (std::uint32_t other = cut.first; other < cut.end; ++other) {
          const bool follows = cut.is_low(other) != cut.is_low(rank) && cut.counterpart(other) == rank;
          EXPECT_EQ(follows, other >= followers.first && other < followers.first + followers.count);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti::patterns
