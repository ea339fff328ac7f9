// SPDX-License-Identifier: Apache-2.0
// What samples say: order statistics with intervals that assume no distribution, ratios taken round by round, and when
// there are enough of them. Pure functions on values, without a clock; thread-safe.
//
// Iterations that follow each other are alike in more than what is measured, so an interval over them would promise too
// much. Intervals are over rounds, which lie apart in time; and where processes were started several times, over these
// starts (launches), since how a process happens to lie in memory is a factor too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tutti::harness {

struct Interval {
  double low = 0;
  double high = 0;
};

struct Summary {
  std::uint64_t count = 0;
  double median = 0;
  // Of the median of rounds, or of launches: by order statistics, it covers it with at least `confidence`; null with
  // too few of them for that.
  std::optional<Interval> interval;
  double mean = 0;
  double minimum = 0;
  double maximum = 0;
  std::optional<double> p99;  // from 100 samples on: the least sample that 99 % do not exceed
  // Samples farther than 3 interquartile ranges from the nearer quartile: warned of, never left out.
  std::uint64_t outliers = 0;
};

inline constexpr double kConfidence = 0.95;

// Of at least one sample; all are finite. The interval is of `independent`: the medians of rounds, or of launches.
[[nodiscard]] Summary summarize(std::span<const double> samples, std::span<const double> independent,
                                double confidence = kConfidence);

// Of at least one number: of an even number, the mean of the two in the middle.
[[nodiscard]] double median_of(std::span<const double> numbers);

// The ranks (from 0, in ascending order) of the two order statistics between which the median lies with at least this
// confidence, as narrow as can be; null where even the first and the last do not reach it. By the binomial
// distribution with p = 1/2: the median lies between them unless nearly all samples fell on one side of it. The
// narrowest may be off the middle by one, and is the lower one then: of 8 samples the 1st to the 7th (96.1 %).
struct OrderBounds {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
[[nodiscard]] std::optional<OrderBounds> median_bounds(std::uint64_t count, double confidence);

// --- comparing

enum class Verdict : std::uint8_t { faster, slower, same, undecided };
[[nodiscard]] std::string_view name_of(Verdict verdict);

inline constexpr double kSame = 0.03;

struct Ratio {
  // Of the times of `b` to those of `a`: the median over rounds (of an even number, the geometric mean of the two in
  // the middle); above 1, a is faster.
  double ratio = 1;
  std::optional<Interval> interval;
  Verdict verdict = Verdict::undecided;  // about a
};

// What the clock cannot tell apart.
inline constexpr double kClockStep = 4;  // nanoseconds

// Round by round: a[i] and b[i] are nanoseconds, medians of rounds that followed each other, so what drifts cancels
// out. They are as many; a round in which either is not a time (above zero) says nothing and is left out, and times
// less than a step of the clock apart are equal. Same where the interval lies
// within 1/(1 + same) and 1 + same; faster or slower where it lies wholly on one side of 1 and the ratio itself is
// beyond that band; else undecided, as it is with too few rounds for an interval. With a and b swapped, ratio and
// interval are the inverse and the verdict its opposite.
[[nodiscard]] Ratio compare(std::span<const double> a, std::span<const double> b, double confidence = kConfidence,
                            double same = kSame);

// The same over launches, each of which gave a ratio: their median, and the interval over them.
[[nodiscard]] Ratio over_launches(std::span<const double> ratios, double confidence = kConfidence, double same = kSame);

// The verdict that belongs to a ratio and its interval, as compare() gives it.
[[nodiscard]] Verdict verdict_of(const Ratio& ratio, double same = kSame);

// --- stopping

struct Budget {
  // Before anything is called precise.
  std::uint64_t least_samples = 20;
  std::uint64_t least_rounds = 10;
  std::uint64_t most_samples = 20'000;
  double seconds = 1.0;     // of measuring, for one case; when they are spent it ends, with however few samples
  double precision = 0.02;  // half the interval's width over the median
};

enum class Stop : std::uint8_t { not_yet, precise, samples, time };
[[nodiscard]] std::string_view name_of(Stop stop);

// Decided once, for all ranks, between rounds: by the medians of those that have any sample, and the number of samples
// in all. Where several reasons hold, the first of precise, samples, time.
[[nodiscard]] Stop should_stop(std::span<const double> round_medians, std::uint64_t num_samples, double seconds_spent,
                               const Budget& budget);

}  // namespace tutti::harness
