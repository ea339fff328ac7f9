// The ways of Bruck's all-to-all: what hops add up to, and when a block finds room in place.
#include "algorithms/patterns/digits.hpp"

#include <gtest/gtest.h>

namespace tutti::patterns {
namespace {

TEST(DigitRoute, ElevenInBaseThreeIsTwoAndZeroAndNine) {
  const DigitRoute route(20, 3);
  EXPECT_EQ(route.hop(11, 1), 2U);
  EXPECT_EQ(route.hop(11, 3), 0U);
  EXPECT_EQ(route.hop(11, 9), 9U);
  EXPECT_EQ(route.hop_before(11, 9), 1U);
  EXPECT_TRUE(route.is_first_hop(11, 1));
  EXPECT_FALSE(route.is_first_hop(11, 9));
  EXPECT_FALSE(route.is_last_hop(11, 1));
  EXPECT_TRUE(route.is_last_hop(11, 9));
}

TEST(DigitRoute, HopsAddUpToTheOffset) {
  for (std::uint32_t radix = 2; radix <= 9; ++radix) {
    const DigitRoute route(200, radix);
    for (std::uint32_t offset = 1; offset < 200; ++offset) {
      std::uint64_t way = 0;
      std::uint64_t before = 0;
      for (std::uint64_t value = 1; value < 200; value *= radix) {
        const std::uint64_t hop = route.hop(offset, value);
        if (hop == 0) continue;
        EXPECT_EQ(route.is_first_hop(offset, value), way == 0);
        if (way != 0) {
          EXPECT_EQ(route.hop_before(offset, value), before);
        }
        before = value;
        way += hop;
        EXPECT_EQ(route.is_last_hop(offset, value), way == offset);
      }
      EXPECT_EQ(way, offset);
    }
  }
}

// Written down as times: what a rank does first, of values from the lowest and of offsets from the highest.
TEST(DigitRoute, FindsRoomWhereTheOtherBlockHasLeftBefore) {
  for (std::uint32_t ranks = 2; ranks <= 40; ++ranks) {
    for (std::uint32_t radix = 2; radix <= 9; ++radix) {
      const DigitRoute route(ranks, radix);
      std::vector<int> leaves(ranks, -1);
      std::vector<int> comes(ranks, -1);
      int time = 0;
      std::uint32_t place = 0;
      for (std::uint64_t value = 1; value < ranks; value *= radix) {
        for (std::uint32_t offset = ranks - 1; offset > 0; --offset) {
          if (route.hop(offset, value) == 0) continue;
          EXPECT_EQ(route.place_of(offset, value), place++);
          if (leaves[offset] < 0) leaves[offset] = time;
          comes[offset] = ++time;
          ++time;
        }
      }
      for (std::uint32_t offset = 1; offset < ranks; ++offset)
        EXPECT_EQ(route.finds_room(offset), leaves[ranks - offset] < comes[offset])
            << ranks << " ranks, radix " << radix << ", offset " << offset;
    }
  }
}

TEST(DigitRoute, EveryBlockFindsRoomInBaseTwoForPowersOfTwo) {
  for (std::uint32_t ranks = 2; ranks <= 64; ranks *= 2) {
    const DigitRoute route(ranks, 2);
    for (std::uint32_t offset = 1; offset < ranks; ++offset) EXPECT_TRUE(route.finds_room(offset));
  }
}

}  // namespace
}  // namespace tutti::patterns
