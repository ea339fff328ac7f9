// SPDX-License-Identifier: Apache-2.0
// Estimates of how long a sweep takes, on durations that are made up.
#include "bench/measure/estimate.hpp"

#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

TEST(Estimate, BeginsWithWhatIsExpected) {
  EXPECT_DOUBLE_EQ(Estimate(42, 100).seconds_left(0, 0).value_or(-1), 42);
  EXPECT_EQ(Estimate(0, 100).seconds_left(7, 0), std::nullopt) << "nothing is known of a program's runs";
  EXPECT_DOUBLE_EQ(Estimate(42, 100).seconds_left(12, 100).value_or(-1), 0);
}

// Each case takes a third of what was expected of it.
TEST(Estimate, IsCorrectedByWhatCasesTook) {
  const Estimate estimate(99, 99);
  const double third = 1.0 / 3;
  double before = 99;
  for (const std::size_t done : {1U, 5U, 10U, 20U, 50U}) {
    const double truth = third * static_cast<double>(99 - done);
    const double left = estimate.seconds_left(third * static_cast<double>(done), done).value_or(-1);
    EXPECT_GE(left, truth) << done;
    EXPECT_LT(left / truth, before) << "nearer to the truth with each case";
    before = left / truth;
    EXPECT_LT(left, truth * (done >= 50 ? 1.25 : done >= 20 ? 1.5 : 3)) << done;
  }
}

// The first one is a hundred times as long as expected: that is no reason to expect hours.
TEST(Estimate, OneCaseAloneDoesNotDecide) {
  const double left = Estimate(100, 1000).seconds_left(10, 1).value_or(-1);
  EXPECT_LT(left, 300);
  EXPECT_GT(left, 100);
}

TEST(Estimate, WithoutAnExpectationWhatIsDoneDecides) {
  EXPECT_DOUBLE_EQ(Estimate(0, 10).seconds_left(20, 4).value_or(-1), 30);
}

TEST(Expected, ACaseTakesLessThanItsBudget) {
  EXPECT_LT(expected_case(1), 0.2) << "most cases are known well long before their budget is spent";
  EXPECT_LT(expected_case(0.1), 0.1);
  EXPECT_GT(expected_case(10), expected_case(1));
  EXPECT_LT(expected_start(Launcher::local), expected_start(Launcher::openmpi));
}

TEST(RoughDuration, IsRoundedUp) {
  EXPECT_EQ(rough_duration(0.2), "1 s");
  EXPECT_EQ(rough_duration(89.5), "90 s");
  EXPECT_EQ(rough_duration(121), "3 min");
  EXPECT_EQ(rough_duration(5400), "1.5 h");
}

}  // namespace
}  // namespace tutti::harness
