// SPDX-License-Identifier: Apache-2.0
#include "device/walk/places.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace tutti::device {
namespace {

TEST(DevicePlaces, TheLeastPlaceIsGivenAndNeighboursGrowTogether) {
  Places places(100);
  EXPECT_EQ(places.take(40), 0U);
  EXPECT_EQ(places.take(40), 40U);
  EXPECT_FALSE(places.take(30));
  EXPECT_EQ(places.take(20), 80U);
  EXPECT_FALSE(places.take(1));
  places.give_back(0, 40);
  places.give_back(80, 20);
  EXPECT_FALSE(places.take(60));
  places.give_back(40, 40);
  EXPECT_EQ(places.take(100), 0U);
}

TEST(DevicePlaces, RandomPlacesNeverOverlapAndComeBack) {
  constexpr std::uint64_t kSpan = 1000;
  std::mt19937 random(1);
  Places places(kSpan);
  std::map<std::uint64_t, std::uint64_t> taken;
  for (int i = 0; i < 20000; ++i) {
    if (!taken.empty() && random() % 2 == 0) {
      const auto given = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      places.give_back(given->first, given->second);
      taken.erase(given);
      continue;
    }
    const std::uint64_t bytes = 1 + random() % 200;
    const auto place = places.take(bytes);
    if (!place) continue;
    ASSERT_LE(*place + bytes, kSpan);
    const auto behind = taken.lower_bound(*place);
    if (behind != taken.end()) {
      ASSERT_LE(*place + bytes, behind->first);
    }
    if (behind != taken.begin()) {
      const auto before = std::prev(behind);
      ASSERT_LE(before->first + before->second, *place);
    }
    taken[*place] = bytes;
  }
  for (const auto& [place, bytes] : taken) places.give_back(place, bytes);
  EXPECT_EQ(places.take(kSpan), 0U);
}

}  // namespace
}  // namespace tutti::device
