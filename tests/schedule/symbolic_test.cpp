// SPDX-License-Identifier: Apache-2.0
// The parts that prove is made of.
#include <gtest/gtest.h>

#include "schedule/prove/happens_before.hpp"
#include "schedule/prove/symbolic_value.hpp"

namespace tutti {
namespace {

TEST(ValueTable, EqualFoldsAreOneValue) {
  ValueTable values(130);
  const ValueId a = values.contribution(0, {0, 3});
  const ValueId b = values.contribution(129, {0, 3});
  EXPECT_EQ(a, values.contribution(0, {0, 3}));
  EXPECT_NE(a, values.contribution(0, {0, 4}));
  const ValueId sum = values.plus(a, b, true, {});
  EXPECT_EQ(sum, values.plus(a, b, true, {}));
  EXPECT_TRUE(values.holds(sum, 0));
  EXPECT_TRUE(values.holds(sum, 129));
  EXPECT_FALSE(values.holds(sum, 64));
  EXPECT_EQ(values.common(sum, b), 129U);
  EXPECT_FALSE(values.common(a, b).has_value());
  EXPECT_EQ(values[sum].count, 2U);
}

TEST(ValueTable, SwappedOperandsHaveTheSameBitsAndOtherBracketsHaveNot) {
  ValueTable values(3);
  const ValueId a = values.contribution(0, {});
  const ValueId b = values.contribution(1, {});
  const ValueId c = values.contribution(2, {});
  const ValueId ab = values.plus(a, b, true, {});
  const ValueId ba = values.plus(b, a, true, {});
  EXPECT_NE(ab, ba);
  EXPECT_EQ(values[ab].bits, values[ba].bits);
  EXPECT_NE(values[values.plus(ab, c, true, {})].bits,
            values[values.plus(a, values.plus(b, c, true, {}), true, {})].bits);
  // Rounded after each step is not the same as rounded once at the end of one.
  const ValueId wide = values.plus(values.plus(a, b, false, {}), c, true, {});
  EXPECT_NE(values[wide].bits, values[values.plus(ab, c, true, {})].bits);
  EXPECT_EQ(values[wide].roundings, 1U);
  EXPECT_EQ(values[values.plus(ab, c, true, {})].roundings, 2U);
}

TEST(ValueTable, KnowsTheOrderOfItsFold) {
  ValueTable values(4);
  ValueId ranks[4];
  for (std::uint32_t rank = 0; rank < 4; ++rank) ranks[rank] = values.contribution(rank, {});
  const ValueId low = values.plus(ranks[0], ranks[1], true, {});
  const ValueId high = values.plus(ranks[2], ranks[3], true, {});
  const ValueId left = values.plus(values.plus(low, ranks[2], true, {}), ranks[3], true, {});
  EXPECT_TRUE(values[left].left_fold && values[left].in_rank_order);
  const ValueId halves = values.plus(low, high, true, {});
  EXPECT_FALSE(values[halves].left_fold);
  EXPECT_TRUE(values[halves].in_rank_order);
  EXPECT_FALSE(values[values.plus(high, low, true, {})].in_rank_order);
}

TEST(Clock, KnowsWhatItHasBeenTold) {
  Clock a(0, 3);
  Clock b(1, 3);
  Clock c(2, 3);
  a.tick();
  b.join(a.now());
  b.tick();
  const Moment told = b.now();
  b.tick();
  c.join(told);
  EXPECT_TRUE(c.knows(0, 1));
  EXPECT_TRUE(c.knows(1, 1));
  EXPECT_FALSE(c.knows(1, 2)) << "what came after the moment";
  EXPECT_FALSE(a.knows(1, 1));
  EXPECT_TRUE(a.knows(1, 0));
}

TEST(AccessHistory, FindsWhatIsNotOrdered) {
  Clock a(0, 2);
  Clock b(1, 2);
  AccessHistory piece;
  a.tick();
  EXPECT_FALSE(piece.write(a, {0, 1}));
  b.tick();
  const auto race = piece.read(b, {1, 1});
  ASSERT_TRUE(race);
  EXPECT_EQ(race->lane, 0U);
  b.join(a.now());
  EXPECT_FALSE(piece.read(b, {1, 1}));
  a.tick();
  EXPECT_FALSE(piece.read(a, {0, 2})) << "two reads do not conflict";
  EXPECT_TRUE(piece.write(a, {0, 2})) << "the other's read is not known";
  a.join(b.now());
  EXPECT_FALSE(piece.write(a, {0, 2}));
}

TEST(AccessHistory, RemembersEveryReaderThatNothingOrders) {
  AccessHistory piece;
  std::vector<Clock> readers;
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    readers.emplace_back(lane, 4);
    readers.back().tick();
    EXPECT_FALSE(piece.read(readers.back(), {lane, 1}));
  }
  for (std::uint32_t lane = 0; lane < 3; ++lane) {
    EXPECT_TRUE(piece.write(readers[3], {3, 1}));
    readers[3].join(readers[lane].now());
  }
  EXPECT_FALSE(piece.write(readers[3], {3, 1}));
}

}  // namespace
}  // namespace tutti
