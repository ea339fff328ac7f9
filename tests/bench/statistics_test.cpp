// SPDX-License-Identifier: Apache-2.0
// Statistics on made-up samples, without a clock. Chances are those of seeded generators, so each run has the same.
#include "bench/measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

using Samples = std::vector<double>;
using Random = std::mt19937_64;

// Each sample is a round of its own.
Summary summary_of(const Samples& samples, double confidence = kConfidence) {
  return summarize(samples, samples, confidence);
}

Stop stop_of(const Samples& rounds, double seconds, const Budget& budget) {
  return should_stop(rounds, rounds.size(), seconds, budget);
}

// As the tables have them: ranks from 1.
using Ranks = std::pair<std::uint64_t, std::uint64_t>;

Ranks ranks(std::uint64_t count, double confidence = 0.95) {
  const std::optional<OrderBounds> bounds = median_bounds(count, confidence);
  EXPECT_TRUE(bounds) << count;
  return bounds ? Ranks{bounds->low + 1, bounds->high + 1} : Ranks{0, 0};
}

// 1, 2, ..., count, shuffled.
Samples first_numbers(std::size_t count) {
  Samples samples(count);
  std::iota(samples.begin(), samples.end(), 1.0);
  std::shuffle(samples.begin(), samples.end(), Random(4));
  return samples;
}

// C(count, i) / 2^count summed over i from `first` to `last`, the way it is written.
double binomial(std::uint64_t count, std::uint64_t first, std::uint64_t last) {
  double sum = 0;
  for (std::uint64_t i = first; i <= last; ++i) {
    double term = std::pow(0.5, static_cast<double>(count));
    for (std::uint64_t k = 1; k <= i; ++k) term *= static_cast<double>(count - i + k) / static_cast<double>(k);
    sum += term;
  }
  return sum;
}

TEST(MedianBounds, TooFewForAnyInterval) {
  for (std::uint64_t count = 0; count <= 5; ++count) EXPECT_FALSE(median_bounds(count, 0.95)) << count;
  // The smallest and the largest of n samples cover the median with 1 - 2 / 2^n: 93.75 % of 5, 96.875 % of 6.
  EXPECT_TRUE(median_bounds(5, 0.9375));
  EXPECT_FALSE(median_bounds(5, 0.9376));
  EXPECT_TRUE(median_bounds(6, 0.96875));
  EXPECT_FALSE(median_bounds(6, 0.96876));
  EXPECT_FALSE(median_bounds(7, 0.99));
  EXPECT_TRUE(median_bounds(8, 0.99));
  EXPECT_FALSE(median_bounds(1'000'000, 1.0));
}

// The sums by hand: of 6, 62/64 = 96.9 %; of 8, 246/256 = 96.1 %; of 9, 492/512 = 96.1 %; of 10, 1002/1024 = 97.9 %; of
// 20, 1005158/1048576 = 95.9 %; with one rank less none of them reaches 95 %.
TEST(MedianBounds, WorkedOutByHand) {
  EXPECT_EQ(ranks(6), (Ranks{1, 6}));
  EXPECT_EQ(ranks(7), (Ranks{1, 7}));
  EXPECT_EQ(ranks(8), (Ranks{1, 7}));
  EXPECT_EQ(ranks(9), (Ranks{2, 8}));
  EXPECT_EQ(ranks(10), (Ranks{2, 9}));
  EXPECT_EQ(ranks(20), (Ranks{6, 15}));
  EXPECT_EQ(ranks(8, 0.99), (Ranks{1, 8}));
}

// K. R. Nair, "Table of confidence interval for the median in samples from any continuous population", Sankhya 4, 1940:
// the k-th smallest and the k-th largest of 6 and more samples, with at least 95 %, and of 8 and more, with 99 %. The
// table keeps to intervals that are symmetrical.
TEST(MedianBounds, AsInAPublishedTable) {
  constexpr auto kOf95 =
      std::to_array<std::uint64_t>({1,  1,  1,  2,  2,  2,  3,  3,  3,  4,  4,  5,  5,  5,  6,  6,  6,  7,  7,  8,
                                    8,  8,  9,  9,  10, 10, 10, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16,
                                    16, 17, 17, 18, 18, 19, 19, 19, 20, 20, 21, 21, 22, 22, 22, 23, 23, 24, 24, 25});
  constexpr auto kOf99 =
      std::to_array<std::uint64_t>({1,  1,  1,  1,  2,  2,  2,  3,  3,  3,  4,  4,  4,  5,  5,  5,  6,  6,  7,  7,
                                    7,  8,  8,  8,  9,  9,  10, 10, 10, 11, 11, 12, 12, 12, 13, 13, 14, 14, 14, 15,
                                    15, 16, 16, 16, 17, 17, 18, 18, 18, 19, 19, 20, 20, 21, 21, 21, 22, 22});
  const auto symmetrical = [](std::uint64_t count, double confidence) {
    const Ranks bounds = ranks(count, confidence);
    return std::min(bounds.first, count + 1 - bounds.second);
  };
  for (std::size_t i = 0; i < kOf95.size(); ++i) EXPECT_EQ(symmetrical(6 + i, 0.95), kOf95[i]) << 6 + i;
  for (std::size_t i = 0; i < kOf99.size(); ++i) EXPECT_EQ(symmetrical(8 + i, 0.99), kOf99[i]) << 8 + i;
}

// Computed with whole numbers of any length.
TEST(MedianBounds, OfManySamples) {
  EXPECT_EQ(ranks(1000), (Ranks{469, 531}));
  EXPECT_EQ(ranks(10'000), (Ranks{4902, 5099}));
  // The normal approximation: 1.96 standard deviations, which are sqrt(n) / 2, to either side.
  const Ranks million = ranks(1'000'000);
  EXPECT_NEAR(static_cast<double>(million.first), 500'000 - 980, 2);
  EXPECT_NEAR(static_cast<double>(million.second), 500'000 + 980, 2);
}

TEST(MedianBounds, CoverEnoughAndAreAsNarrowAsCanBe) {
  for (std::uint64_t count = 6; count <= 200; ++count) {
    for (const double confidence : {0.5, 0.9, 0.95, 0.99}) {
      const std::optional<OrderBounds> bounds = median_bounds(count, confidence);
      if (!bounds) continue;
      SCOPED_TRACE(fmt::format("{} samples, {}: {} to {}", count, confidence, bounds->low, bounds->high));
      EXPECT_LT(bounds->high, count);
      EXPECT_GE(binomial(count, bounds->low + 1, bounds->high), confidence - 1e-9);
      const std::uint64_t width = bounds->high - bounds->low;
      for (std::uint64_t low = 0; low + width <= count; ++low) {
        EXPECT_LT(binomial(count, low + 1, low + width - 1), confidence) << low;
      }
    }
  }
}

TEST(Summary, OfOneSample) {
  const Summary summary = summary_of(Samples{3});
  EXPECT_EQ(summary.count, 1U);
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.mean, 3);
  EXPECT_EQ(summary.minimum, 3);
  EXPECT_EQ(summary.maximum, 3);
  EXPECT_FALSE(summary.interval);
  EXPECT_FALSE(summary.p99);
  EXPECT_EQ(summary.outliers, 0U);
}

TEST(Summary, OfMany) {
  EXPECT_EQ(summary_of(Samples{9, 1, 5}).median, 5);
  EXPECT_EQ(summary_of(Samples{9, 1, 5, 6}).median, 5.5);
  const Summary summary = summary_of(first_numbers(20));
  EXPECT_EQ(summary.count, 20U);
  EXPECT_EQ(summary.median, 10.5);
  EXPECT_EQ(summary.mean, 10.5);
  EXPECT_EQ(summary.minimum, 1);
  EXPECT_EQ(summary.maximum, 20);
  ASSERT_TRUE(summary.interval);
  EXPECT_EQ(summary.interval->low, 6);
  EXPECT_EQ(summary.interval->high, 15);
  EXPECT_EQ(summary_of(first_numbers(20), 0.99).interval->low, 4);
  EXPECT_EQ(summary_of(Samples{1, 2, 6}).mean, 3);
}

TEST(Summary, TheIntervalIsThereFromSixSamplesOn) {
  EXPECT_FALSE(summary_of(first_numbers(5)).interval);
  const Summary summary = summary_of(first_numbers(6));
  ASSERT_TRUE(summary.interval);
  EXPECT_EQ(summary.interval->low, 1);
  EXPECT_EQ(summary.interval->high, 6);
}

TEST(Summary, P99FromAHundredSamplesOn) {
  EXPECT_FALSE(summary_of(first_numbers(99)).p99);
  EXPECT_EQ(summary_of(first_numbers(100)).p99, 99);
  EXPECT_EQ(summary_of(first_numbers(101)).p99, 100);
  EXPECT_EQ(summary_of(first_numbers(1000)).p99, 990);
}

TEST(Summary, OutliersAreCountedAndKept) {
  // Quartiles 3.5 and 8.5, so farther than 15 below or above.
  const auto outliers = [](double least, double most) {
    const Summary summary = summary_of(Samples{most, 2, 3, 4, 5, 6, 7, 8, 9, 10, least});
    EXPECT_EQ(summary.count, 11U);
    EXPECT_EQ(summary.median, 6);
    EXPECT_EQ(summary.minimum, least);
    EXPECT_EQ(summary.maximum, most);
    return summary.outliers;
  };
  EXPECT_EQ(outliers(1, 11), 0U);
  EXPECT_EQ(outliers(-11.5, 23.5), 0U);
  EXPECT_EQ(outliers(-11.6, 23.5), 1U);
  EXPECT_EQ(outliers(-11.5, 23.6), 1U);
  EXPECT_EQ(outliers(-1000, 1000), 2U);
  EXPECT_EQ(summary_of(Samples{1, 1, 1, 1, 1, 2}).outliers, 1U);
}

// How often the interval of `count` samples holds the true median.
double coverage(std::size_t count, double median, const std::function<double(Random&)>& sample, std::uint64_t seed) {
  constexpr int kIntervals = 2000;
  Random random(seed);
  int covered = 0;
  Samples samples(count);
  for (int i = 0; i < kIntervals; ++i) {
    for (double& one : samples) one = sample(random);
    const Summary summary = summary_of(samples);
    if (summary.interval && summary.interval->low <= median && median <= summary.interval->high) ++covered;
  }
  return static_cast<double>(covered) / kIntervals;
}

TEST(Summary, TheIntervalCoversTheMedianOfAnyDistribution) {
  const auto lognormal = [](Random& random) { return std::lognormal_distribution<double>(1.0, 1.5)(random); };
  // Three in five around 1, two in five around 2: the median is where five sixths of the first are.
  const auto bimodal = [](Random& random) {
    const bool first = std::bernoulli_distribution(0.6)(random);
    return std::normal_distribution<double>(first ? 1.0 : 2.0, 0.05)(random);
  };
  constexpr double kLognormalMedian = 2.718281828459045;           // e^1
  constexpr double kBimodalMedian = 1.0 + 0.05 * 0.9674215661017;  // the normal distribution's quantile of 5/6
  for (const std::size_t count : {6U, 8U, 9U, 20U, 50U, 201U}) {
    const Ranks bounds = ranks(count);
    const double expected = binomial(count, bounds.first, bounds.second - 1);
    const std::uint64_t seed = 1000 + count;
    SCOPED_TRACE(fmt::format("{} samples, seed {}", count, seed));
    for (const double covered :
         {coverage(count, kLognormalMedian, lognormal, seed), coverage(count, kBimodalMedian, bimodal, seed)}) {
      EXPECT_GE(covered, 0.93);
      EXPECT_NEAR(covered, expected, 0.02);  // four standard deviations of a share of 2000
    }
  }
}

TEST(Summary, SamplesOfACoarseClockAreCoveredAtLeastAsOften) {
  const auto coarse = [](Random& random) { return std::floor(std::exponential_distribution<double>(0.4)(random)); };
  EXPECT_GE(coverage(20, 1, coarse, 11), 0.95) << "seed 11";
}

struct Pairs {
  Samples a;
  Samples b;
};

// A few per cent of noise with heavy tails: Student's t with three degrees of freedom on a logarithmic scale, and one
// round in twenty up to half as long again.
double noise(Random& random) {
  const double usual = std::exp(0.02 * std::student_t_distribution<double>(3)(random));
  const bool disturbed = std::bernoulli_distribution(0.05)(random);
  return disturbed ? usual * std::uniform_real_distribution<double>(1.0, 1.5)(random) : usual;
}

// Rounds of a machine that gets slower all the time, until it needs four times as long.
Pairs drifting(std::size_t rounds, double ratio, Random* random = nullptr) {
  Pairs pairs;
  for (std::size_t i = 0; i < rounds; ++i) {
    const double time = 1e6 * (1 + 3 * static_cast<double>(i) / static_cast<double>(rounds));
    pairs.a.push_back(time * (random == nullptr ? 1 : noise(*random)));
    pairs.b.push_back(time * ratio * (random == nullptr ? 1 : noise(*random)));
  }
  return pairs;
}

TEST(Compare, DriftCancelsOut) {
  for (const std::size_t rounds : {6U, 7U, 20U, 51U}) {
    const Pairs pairs = drifting(rounds, 1.1);
    const Ratio ratio = compare(pairs.a, pairs.b);
    EXPECT_NEAR(ratio.ratio, 1.1, 1e-12);
    ASSERT_TRUE(ratio.interval);
    EXPECT_NEAR(ratio.interval->low, 1.1, 1e-12);
    EXPECT_NEAR(ratio.interval->high, 1.1, 1e-12);
    EXPECT_EQ(ratio.verdict, Verdict::faster);
    EXPECT_EQ(compare(pairs.b, pairs.a).verdict, Verdict::slower);
  }
}

TEST(Compare, SwappedItIsTheInverse) {
  const auto opposite = [](Verdict verdict) {
    if (verdict == Verdict::faster) return Verdict::slower;
    return verdict == Verdict::slower ? Verdict::faster : verdict;
  };
  Random random(21);
  for (std::size_t rounds = 6; rounds < 60; ++rounds) {
    SCOPED_TRACE(fmt::format("seed 21, {} rounds", rounds));
    const Pairs pairs = drifting(rounds, 1 + 0.001 * static_cast<double>(rounds), &random);
    const Ratio one_way = compare(pairs.a, pairs.b);
    const Ratio other_way = compare(pairs.b, pairs.a);
    EXPECT_NEAR(one_way.ratio * other_way.ratio, 1, 1e-12);
    EXPECT_NEAR(one_way.interval->low * other_way.interval->high, 1, 1e-12);
    EXPECT_NEAR(one_way.interval->high * other_way.interval->low, 1, 1e-12);
    EXPECT_EQ(other_way.verdict, opposite(one_way.verdict));
  }
}

TEST(Compare, EachVerdictAtItsEdge) {
  // Ten rounds: the interval is from the 2nd to the 9th ratio, so these are its ends and the ratio between.
  const auto verdict = [](double low, double middle, double high) {
    const Samples a(10, 1e6);
    Samples b{low, low, middle, middle, middle, middle, middle, middle, high, high};
    for (double& time : b) time *= 1e6;
    const Ratio ratio = compare(a, b);
    EXPECT_DOUBLE_EQ(ratio.ratio, middle);
    EXPECT_DOUBLE_EQ(ratio.interval->low, low);
    EXPECT_DOUBLE_EQ(ratio.interval->high, high);
    return ratio.verdict;
  };
  EXPECT_EQ(verdict(0.98, 1.00, 1.02), Verdict::same);
  EXPECT_EQ(verdict(1.01, 1.02, 1.03), Verdict::same);
  EXPECT_EQ(verdict(1.01, 1.02, 1.04), Verdict::undecided);
  EXPECT_EQ(verdict(0.96, 1.00, 1.02), Verdict::undecided);
  EXPECT_EQ(verdict(0.99, 1.06, 1.08), Verdict::undecided);
  EXPECT_EQ(verdict(1.001, 1.031, 1.08), Verdict::faster);
  EXPECT_EQ(verdict(1.05, 1.06, 1.08), Verdict::faster);
  EXPECT_EQ(verdict(0.96, 0.98, 0.99), Verdict::undecided);
  EXPECT_EQ(verdict(0.90, 0.97, 0.999), Verdict::slower);
  EXPECT_EQ(verdict(0.90, 0.95, 1.001), Verdict::undecided);
}

TEST(Compare, WhatTheClockCannotTellApartIsTheSame) {
  EXPECT_EQ(compare(Samples(10, 33.0), Samples(10, 34.0)).verdict, Verdict::same);
  EXPECT_EQ(compare(Samples(10, 36.9), Samples(10, 33.0)).ratio, 1);
  EXPECT_EQ(compare(Samples(10, 37.0), Samples(10, 33.0)).verdict, Verdict::slower);
  EXPECT_EQ(compare(Samples(10, 100.0), Samples(10, 105.0)).verdict, Verdict::faster);
}

TEST(Compare, OverLaunches) {
  EXPECT_EQ(over_launches(Samples{1.1, 1.2, 1.1, 1.3, 1.2, 1.05}).verdict, Verdict::faster);
  EXPECT_EQ(over_launches(Samples{1.1, 1.2, 1.1, 1.3, 1.2, 0.99}).verdict, Verdict::undecided);
  EXPECT_EQ(over_launches(Samples{0.9, 0.9, 0.9, 0.9, 0.8, 0.8}).verdict, Verdict::slower);
  EXPECT_EQ(over_launches(Samples{1.01, 0.99, 1, 1, 1, 0.98, 1.02}).verdict, Verdict::same);
  // Of five nothing is known well enough.
  EXPECT_EQ(over_launches(Samples{2, 2, 2, 2, 2}).verdict, Verdict::undecided);
  EXPECT_EQ(over_launches({}).verdict, Verdict::undecided);
}

TEST(Compare, ABandOfOnesOwn) {
  const Samples a(10, 100.0);
  const Samples b(10, 105.0);
  EXPECT_EQ(compare(a, b).verdict, Verdict::faster);
  EXPECT_EQ(compare(a, b, kConfidence, 0.1).verdict, Verdict::same);
}

TEST(Compare, TooFewRoundsDecideNothing) {
  EXPECT_EQ(compare({}, {}).verdict, Verdict::undecided);
  const Pairs pairs = drifting(5, 2.0);
  const Ratio ratio = compare(pairs.a, pairs.b);
  EXPECT_NEAR(ratio.ratio, 2, 1e-12);
  EXPECT_FALSE(ratio.interval);
  EXPECT_EQ(ratio.verdict, Verdict::undecided);
  EXPECT_EQ(compare(pairs.a, pairs.b, 0.9).verdict, Verdict::faster);
}

TEST(Compare, RoundsWithoutATimeAreLeftOut) {
  Pairs pairs = drifting(6, 1.2);
  pairs.a.insert(pairs.a.end(), {0, 0, 0, 1, 1, 1, 0, std::nan("")});
  pairs.b.insert(pairs.b.end(), {1, 1, 1, 0, 0, 0, 0, 1});
  const Ratio ratio = compare(pairs.a, pairs.b);
  EXPECT_NEAR(ratio.ratio, 1.2, 1e-12);
  EXPECT_NEAR(ratio.interval->low, 1.2, 1e-12);
  EXPECT_NEAR(ratio.interval->high, 1.2, 1e-12);
  EXPECT_EQ(ratio.verdict, Verdict::faster);
}

// The share of seeded trials that end in this verdict.
double share_of(Verdict verdict, std::size_t rounds, double ratio, std::uint64_t seed) {
  constexpr int kTrials = 1000;
  Random random(seed);
  int found = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Pairs pairs = drifting(rounds, ratio, &random);
    if (compare(pairs.a, pairs.b).verdict == verdict) ++found;
  }
  return static_cast<double>(found) / kTrials;
}

TEST(Compare, FivePerCentAreFoundInNoise) {
  EXPECT_GE(share_of(Verdict::faster, 40, 1.05, 31), 0.95) << "seed 31";
  EXPECT_GE(share_of(Verdict::slower, 40, 1 / 1.05, 32), 0.95) << "seed 32";
}

TEST(Compare, EqualOnesAreRarelyCalledAnythingElse) {
  for (const std::size_t rounds : {6U, 9U, 10U, 17U, 20U, 40U}) {
    const std::uint64_t seed = 40 + rounds;
    const double wrong = share_of(Verdict::faster, rounds, 1.0, seed) + share_of(Verdict::slower, rounds, 1.0, seed);
    EXPECT_LE(wrong, 0.05) << rounds << " rounds, seed " << seed;
  }
  EXPECT_GE(share_of(Verdict::same, 100, 1.0, 33), 0.95) << "seed 33";
}

// The interval of 20 samples is from the 6th to the 15th, so its half width is `half_width` and the median 100.
Samples twenty(double half_width) {
  Samples samples(20, 100);
  for (std::size_t i = 0; i < 6; ++i) samples[i] = 100 + half_width;
  for (std::size_t i = 14; i < 20; ++i) samples[i] = 100 - half_width;
  return samples;
}

TEST(ShouldStop, WhenPreciseEnough) {
  const Budget budget;
  EXPECT_EQ(stop_of(twenty(0), 0, budget), Stop::precise);
  EXPECT_EQ(stop_of(twenty(2), 0, budget), Stop::precise);
  EXPECT_EQ(stop_of(twenty(2.001), 0, budget), Stop::not_yet);
  EXPECT_EQ(stop_of(twenty(2.001), 0, {.precision = 0.03}), Stop::precise);
  EXPECT_EQ(stop_of(Samples(20, 0.0), 0, budget), Stop::precise);
}

TEST(ShouldStop, NotBeforeTheLeastSamplesAndRoundsAreThere) {
  EXPECT_EQ(stop_of(Samples(19, 100.0), 0, {}), Stop::not_yet);
  EXPECT_EQ(stop_of(twenty(0), 0, {.least_samples = 21}), Stop::not_yet);
  EXPECT_EQ(should_stop(Samples(9, 100.0), 1000, 0, {}), Stop::not_yet);
  EXPECT_EQ(should_stop(Samples(10, 100.0), 1000, 0, {}), Stop::precise);
  EXPECT_EQ(should_stop(Samples(10, 100.0), 19, 0, {}), Stop::not_yet);
  // Without an interval nothing is precise.
  EXPECT_EQ(stop_of(Samples(5, 100.0), 0, {.least_samples = 1, .least_rounds = 1}), Stop::not_yet);
  EXPECT_EQ(stop_of(Samples(6, 100.0), 0, {.least_samples = 1, .least_rounds = 1}), Stop::precise);
  EXPECT_EQ(stop_of({}, 0, {.least_samples = 0, .least_rounds = 0}), Stop::not_yet);
}

TEST(ShouldStop, WhenTheSamplesAreSpent) {
  EXPECT_EQ(stop_of(twenty(50), 0, {.most_samples = 21}), Stop::not_yet);
  EXPECT_EQ(stop_of(twenty(50), 0, {.most_samples = 20}), Stop::samples);
  EXPECT_EQ(stop_of(twenty(50), 0, {.least_samples = 30, .most_samples = 20}), Stop::samples);
}

TEST(ShouldStop, WhenTheTimeIsSpent) {
  EXPECT_EQ(stop_of(twenty(50), 0.999, {}), Stop::not_yet);
  EXPECT_EQ(stop_of(twenty(50), 1.0, {}), Stop::time);
  EXPECT_EQ(stop_of(twenty(50), 1.0, {.seconds = 2}), Stop::not_yet);
  EXPECT_EQ(stop_of(Samples{100}, 1.0, {}), Stop::time);
  EXPECT_EQ(stop_of({}, 1.0, {}), Stop::time);
}

TEST(ShouldStop, TheFirstOfSeveralReasonsIsSaid) {
  EXPECT_EQ(stop_of(twenty(0), 2.0, {.most_samples = 20}), Stop::precise);
  EXPECT_EQ(stop_of(twenty(50), 2.0, {.most_samples = 20}), Stop::samples);
}

TEST(Names, AreWords) {
  EXPECT_EQ(name_of(Verdict::faster), "faster");
  EXPECT_EQ(name_of(Verdict::slower), "slower");
  EXPECT_EQ(name_of(Verdict::same), "same");
  EXPECT_EQ(name_of(Verdict::undecided), "undecided");
  EXPECT_EQ(name_of(Stop::not_yet), "not_yet");
  EXPECT_EQ(name_of(Stop::precise), "precise");
  EXPECT_EQ(name_of(Stop::samples), "samples");
  EXPECT_EQ(name_of(Stop::time), "time");
}

}  // namespace
}  // namespace tutti::harness
