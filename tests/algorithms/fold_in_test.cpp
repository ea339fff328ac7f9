// SPDX-License-Identifier: Apache-2.0
// Ranks folded into fewer places, and the rounds of an exchange.
#include "algorithms/patterns/fold_in.hpp"

#include <functional>
#include <numeric>

#include <gtest/gtest.h>

namespace tutti::patterns {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST(FoldIn, FloorPower) {
  EXPECT_EQ(floor_power(1, 2), 1U);
  EXPECT_EQ(floor_power(7, 2), 4U);
  EXPECT_EQ(floor_power(8, 2), 8U);
  EXPECT_EQ(floor_power(26, 3), 9U);
  EXPECT_EQ(floor_power(27, 3), 27U);
  EXPECT_EQ(floor_power(4'294'967'295, 2), 2'147'483'648U);
  EXPECT_EQ(log2_of_power(2'147'483'648), 31U);
}

TEST(FoldIn, ElevenRanksInFourPlaces) {
  const FoldIn folded(11, 4);  // 0 1 2 | 3 4 5 | 6 7 8 | 9 10
  EXPECT_EQ(folded.leader(0), 0U);
  EXPECT_EQ(folded.leader(2), 6U);
  EXPECT_EQ(folded.leader(3), 9U);
  EXPECT_EQ(folded.size_of(2), 3U);
  EXPECT_EQ(folded.size_of(3), 2U);
  EXPECT_EQ(folded.place_of(8), 2U);
  EXPECT_EQ(folded.place_of(10), 3U);
}

TEST(FoldIn, GroupsAreTheRanksInOrder) {
  for (std::uint32_t ranks = 1; ranks <= 40; ++ranks) {
    for (std::uint32_t places = 1; places <= ranks; ++places) {
      const FoldIn folded(ranks, places);
      std::uint32_t next = 0;
      for (std::uint32_t place = 0; place < places; ++place) {
        EXPECT_EQ(folded.leader(place), next);
        for (std::uint32_t member = 0; member < folded.size_of(place); ++member)
          EXPECT_EQ(folded.place_of(next++), place) << ranks << " ranks in " << places;
      }
      EXPECT_EQ(next, ranks);
      EXPECT_LE(folded.size_of(0) - folded.size_of(places - 1), 1U);
    }
  }
}

TEST(ExchangeBases, PowersProductsAndTheRest) {
  EXPECT_EQ(exchange_bases(1, 2), Numbers{});
  EXPECT_EQ(exchange_bases(8, 2), (Numbers{2, 2, 2}));
  EXPECT_EQ(exchange_bases(9, 2), (Numbers{2, 2, 2})) << "one rank is folded in";
  EXPECT_EQ(exchange_bases(12, 4), (Numbers{4, 3}));
  EXPECT_EQ(exchange_bases(6, 8), (Numbers{6})) << "all in one round";
  EXPECT_EQ(exchange_bases(11, 4), (Numbers{4}));
  EXPECT_EQ(exchange_bases(64, 8), (Numbers{8, 8}));
}

TEST(ExchangeBases, StayWithinTheRadixAndTheRanks) {
  for (std::uint32_t ranks = 1; ranks <= 200; ++ranks) {
    for (std::uint32_t radix = 2; radix <= 8; ++radix) {
      const Numbers bases = exchange_bases(ranks, radix);
      const std::uint32_t places = std::accumulate(bases.begin(), bases.end(), 1U, std::multiplies<>());
      EXPECT_LE(places, ranks);
      EXPECT_LE(ranks / places, radix) << ranks << " ranks, radix " << radix;
      for (const std::uint32_t base : bases) {
        EXPECT_GE(base, 2U);
        EXPECT_LE(base, radix);
      }
    }
  }
}

}  // namespace
}  // namespace tutti::patterns
