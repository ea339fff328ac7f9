// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/spread.hpp"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace tutti::shm {
namespace {

constexpr std::uint64_t kSlots = 4;
constexpr std::uint64_t kRoom = 512 << 10;

TEST(Spread, TakesAsManyPlacesAsItsBytesHold) {
  const Spread spread({std::uint64_t{2} << 20, 8 << 10}, kSlots, kRoom);
  EXPECT_EQ(spread.places(0).number, 1U);
  EXPECT_EQ(spread.places(4 << 10).number, 1U);
  EXPECT_EQ(spread.places(8 << 10).number, 32U);
  EXPECT_EQ(spread.places(16 << 10).number, 32U);
  EXPECT_EQ(spread.places(40'000).number, 12U);
  EXPECT_EQ(spread.places(64 << 10).number, 8U);
  EXPECT_EQ(spread.places(256 << 10).number, 2U);
  EXPECT_EQ(spread.places((256 << 10) + 1).number, 1U);
  EXPECT_EQ(spread.places(512 << 10).number, 1U);
  EXPECT_EQ(Spread({1 << 20, 8 << 10}, kSlots, kRoom).places(64 << 10).number, 4U);
  // There is no more than there is room.
  EXPECT_EQ(Spread({std::uint64_t{1} << 30, 8 << 10}, kSlots, kRoom).places(64 << 10).number, 8U);
}

TEST(Spread, OfNothingIsTheBeginningOfTheSlot) {
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{8} << 10, std::uint64_t{512} << 10})
    for (std::uint64_t use = 0; use < 5; ++use) {
      EXPECT_EQ(Spread({0, 8 << 10}, kSlots, kRoom).places(bytes).begin(use, 1), 0U);
      EXPECT_EQ(Spread().places(bytes).begin(use, 1), 0U);
    }
}

TEST(Spread, KeepsPlacesApartAndInTheirSlot) {
  for (const std::uint64_t over : {std::uint64_t{1}, std::uint64_t{300'000}, std::uint64_t{2} << 20})
    for (const std::uint64_t room : {std::uint64_t{4096}, std::uint64_t{100'000}, kRoom})
      for (std::uint64_t bytes = 1; bytes <= room; bytes = bytes * 3 / 2 + 1) {
        const Places places = Spread({over, 8 << 10}, kSlots, room).places(bytes);
        std::set<std::uint64_t> begins;
        for (std::uint64_t use = 0; use < places.number; ++use) {
          const std::uint64_t begin = places.begin(use * kSlots, kSlots);
          ASSERT_LE(begin + bytes, room) << over << ", " << bytes;
          for (std::uint64_t slot = 0; slot < kSlots; ++slot)
            ASSERT_EQ(places.begin(use * kSlots + slot, kSlots), begin);
          begins.insert(begin);
        }
        ASSERT_EQ(begins.size(), places.number);
        EXPECT_EQ(places.begin(places.number * kSlots, kSlots), *begins.begin());
        if (places.number > 1) {
          ASSERT_GE(places.stride, bytes);
        }
      }
}

}  // namespace
}  // namespace tutti::shm
