// SPDX-License-Identifier: Apache-2.0
// Predictions of what was left out, on figures whose truth is known.
#include "simulate/references/blind.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "simulate/references/near.hpp"
#include "simulate/references/residuals.hpp"
#include "simulate/references/weight.hpp"

namespace tutti::simulate {
namespace {

TEST(ValueNear, LiesBetweenWhatIsKnown) {
  // 2 ranks: 10 and 30 at 1K and 3K; 8 ranks: 40 and 120.
  const std::vector<Known> known = {{2, 1000, 10}, {2, 3000, 30}, {8, 1000, 40}, {8, 3000, 120}};
  EXPECT_DOUBLE_EQ(*value_near(known, 2, 2000, Near::linear), 20);
  EXPECT_DOUBLE_EQ(*value_near(known, 5, 2000, Near::linear), 50);
  EXPECT_NEAR(*value_near(known, 4, 2000, Near::log_log), 40, 1e-9);
  EXPECT_DOUBLE_EQ(*value_near(known, 3, 2900, Near::nearest), 30);
  EXPECT_NEAR(*value_near(known, 2, 6000, Near::log_log), 60, 1e-9);
  EXPECT_FALSE(value_near({}, 2, 1000, Near::linear));
}

// Rings of 2, 4 and 8 ranks: 2(n-1) steps of 1 us and bytes / n at 2 B/ns, all 10 % slower than that at 8 ranks.
References made_up() {
  References references;
  references.unit = "us";
  references.nanoseconds = 1000;
  references.fits = {{.name = "made",
                      .fabrics = {"ring_1d"},
                      .series = {},
                      .parameters = {{"latency", "3us", "3us"}, {"bandwidth", "1GB/s", "1GB/s"}}}};
  for (const int ranks : {2, 4, 8}) {
    Series series;
    series.id = "ring-" + std::to_string(ranks);
    series.bytes = {1 << 14, 1 << 17, 1 << 20, 1 << 23};
    series.ways = {{.fabric = "ring_1d:" + std::to_string(ranks), .algorithm = "ring"}};
    for (const std::uint64_t bytes : series.bytes) {
      const double step = 1 + static_cast<double>(bytes) / ranks / 2000;
      series.values.push_back(2 * (ranks - 1) * step * (ranks == 8 ? 1.1 : 1));
    }
    references.series.push_back(series);
  }
  return references;
}

TEST(BlindTest, PredictsWhatItHasNotSeenBetterThanTheNearestTimesDo) {
  const References references = made_up();
  std::vector<std::string> fits;
  const Result<std::vector<BlindTime>> blind =
      predict_left_out(references, LeftOut::ranks, [&](const std::string& name) { fits.push_back(name); });
  ASSERT_TRUE(blind.ok()) << blind.status().to_string();
  // Each number of ranks is left out, and each two, to learn how far the others may be trusted.
  EXPECT_EQ(fits,
            (std::vector<std::string>{
                "ring_1d, 2 ranks, and ring_1d, 4 ranks", "ring_1d, 2 ranks, and ring_1d, 8 ranks", "ring_1d, 2 ranks",
                "ring_1d, 4 ranks, and ring_1d, 8 ranks", "ring_1d, 4 ranks", "ring_1d, 8 ranks"}));
  for (const BlindTime& time : *blind) EXPECT_EQ(time.beyond.has_value(), time.ranks != 4);
  ASSERT_EQ(blind->size(), 12U);
  const BlindScore simulated = score_of(*blind, Predictor::simulated);
  EXPECT_LT(simulated.median_error, 0.08);
  EXPECT_GT(score_of(*blind, Predictor::nearest).median_error, 0.2);
  EXPECT_EQ(simulated.contests, 0U);
  for (const BlindTime& time : *blind) {
    EXPECT_GE(time.factor, 1);
    EXPECT_LT(time.factor, 1.8);
  }
}

TEST(BlindTest, LeavesOutOneSizeInTwo) {
  const References references = made_up();
  const Result<std::vector<BlindTime>> blind = predict_left_out(references, LeftOut::sizes, [](const std::string&) {});
  ASSERT_TRUE(blind.ok()) << blind.status().to_string();
  ASSERT_EQ(blind->size(), 12U);
  // What 8 ranks take longer is known from their other sizes.
  EXPECT_LT(score_of(*blind, Predictor::corrected).median_error, 0.03);
  EXPECT_GE(score_of(*blind, Predictor::corrected).within, 0.6);
}

// A ratio of 1.2 at 4 ranks and 1M.
TEST(Residuals, AreTheSameAtTheSamePlaceAndFadeAway) {
  const Residuals residuals({{"ring", 4, 1 << 20, std::log(1.2), 0.01}, {"other", 4, 1 << 20, std::log(0.9), 0.01}});
  const Expected here = residuals.expected("ring", 4, 1 << 20);
  EXPECT_NEAR(here.log_ratio, std::log(1.2), 0.01);
  EXPECT_LT(here.deviation, 0.02);
  const Expected near = residuals.expected("ring", 8, 1 << 20);
  EXPECT_NEAR(near.log_ratio, here.log_ratio * std::exp(-0.5), 0.01);
  EXPECT_GT(near.deviation, 3 * here.deviation);
  const Expected far = residuals.expected("ring", 4096, 1 << 10);
  EXPECT_NEAR(far.log_ratio, 0, 0.001);
  const Expected unknown = residuals.expected("tree", 4, 1 << 20);
  EXPECT_EQ(unknown.log_ratio, 0);
  EXPECT_NEAR(far.deviation, unknown.deviation, 1e-3);
  EXPECT_EQ(Residuals({}).expected("ring", 4, 8).log_ratio, 0);
}

TEST(Residuals, BeyondTheNumbersOfRanksAShareHolds) {
  const std::vector<Residual> known = {{"ring", 4, 1 << 20, 0.2, 0.01}, {"ring", 16, 1 << 20, 0.1, 0.01}};
  const Residuals whole(known);
  const Residuals half(known, 0.5);
  EXPECT_FALSE(half.is_beyond("ring", 4));
  EXPECT_FALSE(half.is_beyond("ring", 8));
  EXPECT_TRUE(half.is_beyond("ring", 2));
  EXPECT_TRUE(half.is_beyond("ring", 32));
  EXPECT_FALSE(half.is_beyond("tree", 32));
  EXPECT_EQ(half.expected("ring", 8, 1 << 20).log_ratio, whole.expected("ring", 8, 1 << 20).log_ratio);
  EXPECT_EQ(half.expected("ring", 8, 1 << 20).deviation, whole.expected("ring", 8, 1 << 20).deviation);
  const Expected beyond = half.expected("ring", 32, 1 << 20);
  EXPECT_DOUBLE_EQ(beyond.log_ratio, whole.expected("ring", 32, 1 << 20).log_ratio / 2);
  EXPECT_GT(beyond.deviation, whole.expected("ring", 32, 1 << 20).deviation);
  const Residuals none(known, 0);
  EXPECT_EQ(none.expected("ring", 32, 1 << 20).log_ratio, 0);
  EXPECT_LT(beyond.deviation, none.expected("ring", 32, 1 << 20).deviation);
}

// The fourth by hand: the slope is (0.01 + 0.005) / 0.02 = 0.75. Of either series ±0.0025 is left, 0.125 of the
// squares. Twice the sum of its squares is the variance, 0.0625.
TEST(Weight, ShrinksTheSlopeByWhatMayBeChance) {
  const auto weight = [](const std::vector<Evidence>& evidence) { return weight_of(evidence); };
  EXPECT_EQ(weight({}), 0);
  EXPECT_EQ(weight({{"a", 0.1, 0.1}, {"a", 0.2, 0.2}}), 0);  // of one series nothing follows
  EXPECT_DOUBLE_EQ(weight({{"a", 0.1, 0.05}, {"b", 0.2, 0.1}}), 0.5);
  EXPECT_NEAR(weight({{"a", 0.1, 0.1}, {"b", 0.1, 0.05}}), 0.75 - 0.0625 / 0.75, 1e-12);
  EXPECT_EQ(weight({{"a", 0.1, 0.2}, {"b", 0.1, 0.1}}), 1);
  EXPECT_EQ(weight({{"a", 0.1, 0.1}, {"b", 0.1, -0.08}}), 0);
  EXPECT_EQ(weight({{"a", 0.1, -0.1}, {"b", 0.1, -0.1}}), 0);
}

TEST(BlindTest, TheIntervalCoversNineOfTen) {
  std::vector<BlindTime> times(20);
  for (std::size_t each = 0; each < times.size(); ++each) {
    times[each].published = 1;
    times[each].deviation = 0.02;
    times[each].times[static_cast<std::size_t>(Predictor::corrected)] = std::exp(0.01 * static_cast<double>(each + 1));
  }
  EXPECT_NEAR(deviations_of(times, [](const BlindTime&) { return true; }), 9.5, 1e-9);
}

}  // namespace
}  // namespace tutti::simulate
