// SPDX-License-Identifier: Apache-2.0
// Neighbour exchange, by hand and against what it is for: every rank gets every block once, from one who has it.
#include "algorithms/patterns/neighbours.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tutti::patterns {
namespace {

using Pair = std::array<std::uint32_t, 2>;

TEST(NeighbourExchange, SixRanksByHand) {
  const NeighbourExchange exchange(6);
  EXPECT_EQ(exchange.num_steps(), 3U);
  EXPECT_EQ(exchange.partner(0, 0), 1U);
  EXPECT_EQ(exchange.partner(0, 1), 5U);
  EXPECT_EQ(exchange.partner(0, 2), 1U);
  EXPECT_EQ(exchange.partner(3, 0), 2U);
  EXPECT_EQ(exchange.partner(3, 1), 4U);
  EXPECT_EQ(exchange.received(0, 1), (Pair{5, 4}));
  EXPECT_EQ(exchange.received(0, 2), (Pair{2, 3}));
  EXPECT_EQ(exchange.received(3, 1), (Pair{4, 5}));
  EXPECT_EQ(exchange.received(3, 2), (Pair{1, 0}));
}

TEST(NeighbourExchange, EveryStepPassesOnWhatCameInTheOneBefore) {
  for (std::uint32_t n = 2; n <= 40; n += 2) {
    const NeighbourExchange exchange(n);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      std::set<std::uint32_t> known = {rank, exchange.partner(rank, 0)};
      for (std::uint32_t step = 0; step < exchange.num_steps(); ++step) {
        const std::uint32_t from = exchange.partner(rank, step);
        EXPECT_EQ(exchange.partner(from, step), rank);
        if (step == 0) continue;
        EXPECT_NE(from, exchange.partner(rank, step - 1)) << "the sides take turns";
        const Pair own_pair = {from, exchange.partner(from, 0)};
        EXPECT_EQ(exchange.received(rank, step), step == 1 ? own_pair : exchange.received(from, step - 1));
        for (const std::uint32_t block : exchange.received(rank, step)) EXPECT_TRUE(known.insert(block).second);
      }
      EXPECT_EQ(known.size(), n);
    }
  }
}

}  // namespace
}  // namespace tutti::patterns
