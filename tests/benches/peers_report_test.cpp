// SPDX-License-Identifier: Apache-2.0
// What the figures of benches/peers mean.
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "benches/peers/report.hpp"
#include "benches/peers/score.hpp"

namespace tutti::bars {
namespace {

Figure at_least(double value, double least) {
  Figure figure;
  figure.bar = 1;
  figure.what = "ratio";
  figure.collective = "all_reduce";
  figure.num_ranks = 2;
  figure.bytes = 64;
  figure.value = value;
  figure.least = least;
  return figure;
}

Figure at_most(double value, double most, std::optional<Interval> interval) {
  Figure figure = at_least(value, 0);
  figure.least.reset();
  figure.most = most;
  figure.interval = interval;
  return figure;
}

TEST(Figure, IsMetFromItsLeastOnAndUpToItsMost) {
  EXPECT_EQ(verdict_of(at_least(1.3, 1.3)), Verdict::met);
  EXPECT_EQ(verdict_of(at_least(1.29, 1.3)), Verdict::missed);
  EXPECT_EQ(verdict_of(at_most(1.5, 1.5, std::nullopt)), Verdict::met);
  EXPECT_EQ(verdict_of(at_most(1.51, 1.5, std::nullopt)), Verdict::missed);
}

TEST(Figure, IsMetAboveItsMostWhereItsIntervalReachesBelow) {
  EXPECT_EQ(verdict_of(at_most(1.05, 1, Interval{0.98, 1.2})), Verdict::met);
  EXPECT_EQ(verdict_of(at_most(1.05, 1, Interval{1.01, 1.2})), Verdict::missed);
  // What is to be reached has no such grace.
  Figure figure = at_least(1.2, 1.3);
  figure.interval = {1.1, 1.4};
  EXPECT_EQ(verdict_of(figure), Verdict::missed);
}

TEST(Figure, IsMissedWhereItWasNotMeasuredAndNothingWhereNothingIsAsked) {
  Figure figure = at_least(2, 1);
  figure.value.reset();
  EXPECT_EQ(verdict_of(figure), Verdict::missed);
  figure.least.reset();
  EXPECT_EQ(verdict_of(figure), Verdict::shown);
}

TEST(Score, MeansAreGeometric) {
  EXPECT_EQ(geometric_mean({}), std::nullopt);
  EXPECT_NEAR(geometric_mean({1, 4}).value_or(0), 2, 1e-12);
  EXPECT_NEAR(geometric_mean({0.5, 2, 8}).value_or(0), 2, 1e-12);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
}

TEST(Score, ASizeIsHeldAgainstTheLineBetweenItsNeighbours) {
  // A power law is a straight line, also where sizes are not evenly spaced.
  Times times;
  for (const std::int64_t bytes : {8, 32, 64, 4096}) times[bytes] = {std::pow(static_cast<double>(bytes), 0.7), {}};
  for (const auto& [bytes, ratio] : over_interpolation(times)) EXPECT_NEAR(ratio, 1, 1e-12) << bytes;
  times[64].us *= 3;
  const auto bumpy = over_interpolation(times);
  EXPECT_EQ(bumpy.size(), 2U) << "the ends have one neighbour only";
  EXPECT_NEAR(bumpy.at(64), 3, 1e-12);
  EXPECT_LT(bumpy.at(32), 1);
}

TEST(Score, ASizeIsHeldAgainstTheNextLargerOne) {
  const Times times = {{8, {2, {1.9, 2.1}}}, {32, {1, {0.9, 1.1}}}, {128, {4, {3.9, 4.1}}}};
  const auto steps = over_next(times);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_DOUBLE_EQ(steps.at(8).ratio, 2);
  EXPECT_DOUBLE_EQ(steps.at(8).interval.low, 1.9 / 1.1);
  EXPECT_DOUBLE_EQ(steps.at(8).interval.high, 2.1 / 0.9);
  EXPECT_DOUBLE_EQ(steps.at(32).ratio, 0.25);
}

TEST(Report, ABarIsMissedWithOneOfItsFiguresOrWithout) {
  EXPECT_TRUE(conclude(1, {at_least(2, 1), at_least(3, 1)}).is_met);
  const Conclusion missed = conclude(1, {at_least(2, 1), at_least(0.5, 1)});
  EXPECT_FALSE(missed.is_met);
  EXPECT_EQ(missed.text, "bar 1: missed (1 of 2: all_reduce 2 ranks 64 B ratio 0.5, must be >= 1)");
  EXPECT_FALSE(conclude(1, {}).is_met);
  Figure shown = at_least(2, 1);
  shown.least.reset();
  EXPECT_FALSE(conclude(1, {shown}).is_met) << "nothing was judged";
}

TEST(Report, ShowsTheSameInEveryFormat) {
  Figure missing = at_least(0, 1.5);
  missing.value.reset();
  const std::vector<Figure> figures = {at_least(2, 1.3), missing};
  const auto json = nlohmann::json::parse(show_as("json")(figures));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["value"], 2.0);
  EXPECT_EQ(json[0]["verdict"], "met");
  EXPECT_TRUE(json[1]["value"].is_null());
  EXPECT_EQ(show_as("csv")(figures),
            "bar,what,collective,ranks,bytes,us,beside,its_us,value,low,high,at_least,at_most,verdict\n"
            "1,ratio,all_reduce,2,64,,,,2.0,,,1.3,,met\n"
            "1,ratio,all_reduce,2,64,,,,,,,1.5,,missed\n");
  EXPECT_NE(show_as("table")(figures).find("missed: not measured"), std::string::npos);
  EXPECT_EQ(show_as("xml"), nullptr);
}

}  // namespace
}  // namespace tutti::bars
