// Halves of halves, against bits where the ranks are a power of two, and against what makes them right elsewhere.
#include "algorithms/patterns/halves.hpp"

#include <map>

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
      for (std::uint32_t block = 0; block < n; ++block) {
        // In a group of 2^k ranks: the rank that ends in the block's last k bits.
        for (std::uint32_t cut = 0; cut <= bits; ++cut) {
          const std::uint32_t mask = (n >> cut) - 1;
          EXPECT_EQ(keeper_of(block, std::span(cuts).first(cut), rank), (rank & ~mask) | (block & mask));
        }
      }
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

TEST(Halves, EveryGroupHasOneKeeperOfABlockWhoFoldsWithItsCounterpart) {
  for (std::uint32_t n = 1; n <= 40; ++n) {
    for (std::uint32_t block = 0; block < n; ++block) {
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> keepers;  // by first rank and end of a group
      for (std::uint32_t rank = 0; rank < n; ++rank) {
        const std::vector<Halves> cuts = cuts_around(rank, n);
        EXPECT_EQ(keeper_of(block, {}, rank), block);
        EXPECT_EQ(keeper_of(block, cuts, rank), rank) << "alone it keeps everything";
        for (std::size_t cut = 0; cut < cuts.size(); ++cut) {
          const std::uint32_t keeper = keeper_of(block, std::span(cuts).first(cut), rank);
          EXPECT_TRUE(keeper >= cuts[cut].first && keeper < cuts[cut].end);
          EXPECT_EQ(keepers.try_emplace({cuts[cut].first, cuts[cut].end}, keeper).first->second, keeper);
          const std::uint32_t in_half = keeper_of(block, std::span(cuts).first(cut + 1), rank);
          EXPECT_EQ(in_half,
                    cuts[cut].is_low(keeper) == cuts[cut].is_low(rank) ? keeper : cuts[cut].counterpart(keeper));
        }
      }
    }
  }
}

TEST(Halves, CountsWhatIsKeptAfterTwoFolds) {
  for (std::uint32_t n = 1; n <= 70; ++n) {
    std::uint32_t most = 0;
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      const std::vector<Halves> cuts = cuts_around(rank, n);
      if (cuts.size() < 2) continue;
      std::uint32_t kept = 0;
      for (std::uint32_t block = 0; block < n; ++block)
        if (block != rank && keeper_of(block, std::span(cuts).first(cuts.size() - 2), rank) == rank) ++kept;
      most = std::max(most, kept);
    }
    EXPECT_EQ(most_kept_after_two_folds(n), most) << n;
  }
  EXPECT_EQ(most_kept_after_two_folds(64), 64 / 4 - 1U);
}

}  // namespace
}  // namespace tutti::patterns
