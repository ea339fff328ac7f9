// SPDX-License-Identifier: Apache-2.0
#include "calibrate/steadiness.hpp"

#include <gtest/gtest.h>

namespace tutti::calibrate {
namespace {

using Numbers = std::vector<std::size_t>;

TEST(Steadiness, OfAStillMachineIsAllOfIt) {
  const std::vector<Mark> marks = {{100, 105}, {98, 101}, {110, 104}};
  const Steadiness found = steadiness_of(marks);
  EXPECT_TRUE(found.is_steady);
  EXPECT_EQ(found.passes, (Numbers{0, 1, 2}));
  EXPECT_EQ(found.least, 98);
  EXPECT_EQ(found.greatest, 110);
}

TEST(Steadiness, LeavesOutWhatIsOfAnotherMachineOrOfTwo) {
  const std::vector<Mark> marks = {{100, 105}, {350, 340}, {100, 350}, {97, 100}, {345, 360}, {99, 120}};
  const Steadiness found = steadiness_of(marks);
  EXPECT_TRUE(found.is_steady);
  EXPECT_EQ(found.passes, (Numbers{0, 3, 5}));
  EXPECT_LT(found.mark, 130);
  EXPECT_EQ(found.greatest, 360);
}

TEST(Steadiness, OfAsManyTakesTheQuicker) {
  const std::vector<Mark> marks = {{400, 400}, {100, 100}, {410, 400}, {101, 99}};
  EXPECT_EQ(steadiness_of(marks).passes, (Numbers{1, 3}));
}

TEST(Steadiness, WhereNothingKeptStillAllCount) {
  const std::vector<Mark> marks = {{100, 200}, {300, 100}};
  const Steadiness found = steadiness_of(marks);
  EXPECT_FALSE(found.is_steady);
  EXPECT_EQ(found.passes, (Numbers{0, 1}));
  EXPECT_FALSE(steadiness_of({}).is_steady);
  EXPECT_TRUE(steadiness_of({}).passes.empty());
}

}  // namespace
}  // namespace tutti::calibrate
