// SPDX-License-Identifier: Apache-2.0
// Pairings, against one written down by hand and against what makes them a tournament.
#include "algorithms/patterns/pairing.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tutti::patterns {
namespace {

TEST(Pairing, FourRanksTakeThreeStepsAndRestInTheFourth) {
  const Pairing pairing(4);
  ASSERT_EQ(pairing.num_steps(), 4U);
  const std::uint32_t partners[4][4] = {{3, 2, 1, 0}, {1, 0, 3, 2}, {2, 3, 0, 1}, {0, 1, 2, 3}};
  for (std::uint32_t step = 0; step < 4; ++step)
    for (std::uint32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(pairing.partner(rank, step), partners[step][rank]);
}

TEST(Pairing, OfFiveRanksAnotherOneRestsInEachStep) {
  const Pairing pairing(5);
  ASSERT_EQ(pairing.num_steps(), 5U);
  const std::uint32_t resting[] = {0, 3, 1, 4, 2};
  for (std::uint32_t step = 0; step < 5; ++step) {
    for (std::uint32_t rank = 0; rank < 5; ++rank)
      EXPECT_EQ(pairing.partner(rank, step) == rank, rank == resting[step]) << "rank " << rank << ", step " << step;
  }
}

TEST(Pairing, EverybodyMeetsEverybodyOnce) {
  for (std::uint32_t ranks = 1; ranks <= 40; ++ranks) {
    const Pairing pairing(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::set<std::uint32_t> met;
      for (std::uint32_t step = 0; step < pairing.num_steps(); ++step) {
        const std::uint32_t partner = pairing.partner(rank, step);
        ASSERT_LT(partner, ranks);
        EXPECT_EQ(pairing.partner(partner, step), rank);
        EXPECT_EQ(pairing.step_of(rank, partner), step);
        if (partner == rank) {
          EXPECT_TRUE(ranks % 2 == 1 || step == ranks - 1);
          continue;
        }
        EXPECT_EQ(pairing.turn_of(rank, partner), met.size());
        EXPECT_TRUE(met.insert(partner).second) << "meets rank " << partner << " twice";
      }
      EXPECT_EQ(met.size(), ranks - 1);
    }
  }
}

TEST(Pairing, HighestNumbersDoNotOverflow) {
  for (const std::uint32_t ranks : {4'294'967'295U, 4'294'967'294U}) {
    const Pairing pairing(ranks);
    for (const std::uint32_t rank : {0U, 1U, ranks / 2, ranks - 2, ranks - 1}) {
      for (const std::uint32_t step : {0U, 1U, ranks / 2, ranks - 2, ranks - 1}) {
        const std::uint32_t partner = pairing.partner(rank, step);
        ASSERT_LT(partner, ranks);
        EXPECT_EQ(pairing.partner(partner, step), rank);
        EXPECT_EQ(pairing.step_of(rank, partner), step);
      }
    }
  }
}

}  // namespace
}  // namespace tutti::patterns
