// SPDX-License-Identifier: Apache-2.0
#include "report/axis.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::report {
namespace {

void expect_ends(const Axis& axis, double from, double to) {
  ASSERT_GE(axis.ticks().size(), 2U);
  EXPECT_LE(axis.ticks().size(), 20U);
  EXPECT_NEAR(axis.at(from), 0, 1e-9);
  EXPECT_NEAR(axis.at(to), 1, 1e-9);
  for (const double tick : axis.ticks()) {
    EXPECT_GE(axis.at(tick), -1e-9);
    EXPECT_LE(axis.at(tick), 1 + 1e-9);
  }
}

TEST(Axis, IsRoundAroundItsValues) {
  expect_ends(Axis::linear(3, 97), 0, 100);
  expect_ends(Axis::linear(-12, 31), -20, 40);
  expect_ends(Axis::linear(0, 0), 0, 1);
  expect_ends(Axis::linear(0.00031, 0.00042), 0, 0.0005);
  expect_ends(Axis::linear(-9, -3), -10, 0);
  expect_ends(Axis::logarithmic(0.3, 4700), 0.2, 5000);
  expect_ends(Axis::logarithmic(10, 10), 10, 20);
  expect_ends(Axis::logarithmic(0.021, 0.19), 0.02, 0.2);
  expect_ends(Axis::logarithmic(1e-9, 1e9), 1e-9, 1e9);
  expect_ends(Axis::of_sizes(16, 98304), 16, 131072);
  expect_ends(Axis::of_sizes(4096, 4096), 4096, 8192);
  expect_ends(Axis::of_sizes(1, 1e15), 1, std::exp2(50));
}

TEST(Axis, TheLastSizeHasATickApartFromTheOthers) {
  for (int lowest = 0; lowest < 10; ++lowest)
    for (int highest = lowest + 1; highest < 50; ++highest) {
      const std::vector<double> ticks = Axis::of_sizes(std::exp2(lowest), std::exp2(highest)).ticks();
      EXPECT_EQ(ticks.front(), std::exp2(lowest));
      EXPECT_EQ(ticks.back(), std::exp2(highest));
      const double usual = ticks[1] / ticks[0];
      for (std::size_t each = 1; each < ticks.size(); ++each)
        EXPECT_GT(std::log2(ticks[each] / ticks[each - 1]), std::log2(usual) / 2) << lowest << " " << highest;
    }
}

TEST(Axis, EachSizeHasATickWhereThereIsRoom) {
  const std::vector<double> ticks = Axis::of_sizes(16, 98304).ticks();
  ASSERT_EQ(ticks.size(), 14U);
  for (std::size_t each = 0; each < ticks.size(); ++each)
    EXPECT_EQ(ticks[each], std::exp2(4 + static_cast<double>(each)));
}

TEST(Axis, EveryDecadeHasThreeTicks) {
  const std::vector<double> ticks = Axis::logarithmic(7.5, 60000).ticks();
  for (const double tick : {5.0, 10.0, 20.0, 50.0, 100.0, 5000.0, 20000.0})
    EXPECT_TRUE(std::any_of(ticks.begin(), ticks.end(), [&](double each) { return std::abs(each / tick - 1) < 1e-9; }))
        << tick;
}

TEST(BarAxis, BreaksWhereAFewAreFarAbove) {
  const BarAxis whole({12, 21.4, 24.3, 30});
  EXPECT_FALSE(whole.break_at());
  EXPECT_NEAR(whole.at(15), 0.5, 1e-9);
  const BarAxis broken({12, 17.2, 21.4, 22, 24.3, 366});
  ASSERT_TRUE(broken.break_at());
  // Below the gap it goes on evenly, above it higher still, and order stays.
  EXPECT_NEAR(broken.at(20), 2 * broken.at(10), 1e-9);
  EXPECT_LT(broken.at(24.3), *broken.break_at());
  EXPECT_GT(broken.at(366), *broken.break_at());
  EXPECT_LT(broken.at(366), 1.0001);
  EXPECT_LT(broken.at(365), broken.at(366));
  // Where half are far above, none is an exception.
  EXPECT_FALSE(BarAxis({1, 2, 100, 110}).break_at());
  EXPECT_FALSE(BarAxis({0, 0, 0, 0, 5}).break_at());
}

TEST(BarAxis, ReachesWhatIsAskedForUnbroken) {
  const BarAxis axis({1, 2, 3, 4, 66.7}, 100);
  EXPECT_FALSE(axis.break_at());
  EXPECT_EQ(axis.ticks().back(), 100);
  EXPECT_NEAR(axis.at(50), 0.5, 1e-9);
  EXPECT_EQ(BarAxis({150}, 100).ticks().back(), 160);
}

TEST(BarAxis, NothingIsNoTrouble) {
  EXPECT_EQ(BarAxis({}).at(0), 0);
  EXPECT_EQ(BarAxis({0}).at(0), 0);
}

TEST(NumberText, IsShort) {
  EXPECT_EQ(number_text(0.1 + 0.2), "0.3");
  EXPECT_EQ(number_text(1e-17), "0");
  EXPECT_EQ(number_text(86041.3), "86041");
  EXPECT_EQ(number_text(12345678), "1.235e+07");
}

}  // namespace
}  // namespace tutti::report
