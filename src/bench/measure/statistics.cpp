// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/assert.hpp"

namespace tutti::harness {

namespace {

constexpr std::array<std::string_view, 4> kVerdictNames{"faster", "slower", "same", "undecided"};
constexpr std::array<std::string_view, 4> kStopNames{"not_yet", "precise", "samples", "time"};

constexpr std::uint64_t kLeastForP99 = 100;
constexpr double kFarOut = 3;  // interquartile ranges

std::vector<double> in_order(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// Between order statistics in proportion (Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996, type 7);
// at one half it is the median that everybody means.
double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The least sample that this many per cent of all do not exceed.
double nearest_rank(std::span<const double> sorted, std::size_t per_cent) {
  return sorted[(sorted.size() * per_cent + 99) / 100 - 1];
}

std::uint64_t far_out(std::span<const double> sorted) {
  const double first = quantile(sorted, 0.25);
  const double third = quantile(sorted, 0.75);
  const double reach = kFarOut * (third - first);
  return static_cast<std::uint64_t>(std::count_if(
      sorted.begin(), sorted.end(), [&](double sample) { return sample < first - reach || sample > third + reach; }));
}

// The probability that a fair coin, thrown `count` times, falls on one side floor(count / 2) times: for 2m throws
// the product of (2i - 1) / 2i over i from 1 to m, and for 2m - 1 throws the same as for 2m.
double probability_of_half(std::uint64_t count) {
  double probability = 1;
  for (std::uint64_t i = 1; i <= (count + 1) / 2; ++i) {
    probability *= static_cast<double>(2 * i - 1) / static_cast<double>(2 * i);
  }
  return probability;
}

std::optional<Interval> interval_of_median(std::span<const double> sorted, double confidence) {
  const std::optional<OrderBounds> bounds = median_bounds(sorted.size(), confidence);
  if (!bounds) return std::nullopt;
  return Interval{sorted[bounds->low], sorted[bounds->high]};
}

}  // namespace

double median_of(std::span<const double> numbers) {
  TUTTI_ASSERT(!numbers.empty(), "nothing has no median");
  return quantile(in_order(numbers), 0.5);
}

Summary summarize(std::span<const double> samples, std::span<const double> independent, double confidence) {
  TUTTI_ASSERT(!samples.empty(), "a summary needs at least one sample");
  const std::vector<double> sorted = in_order(samples);
  Summary summary;
  summary.count = sorted.size();
  summary.median = quantile(sorted, 0.5);
  summary.interval = interval_of_median(in_order(independent), confidence);
  summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  summary.minimum = sorted.front();
  summary.maximum = sorted.back();
  if (sorted.size() >= kLeastForP99) summary.p99 = nearest_rank(sorted, 99);
  summary.outliers = far_out(sorted);
  return summary;
}

// The median lies between the order statistics of ranks low and high (from 0) if more than low and at most high
// samples fall below it. Each falls below it with p = 1/2, so that has the probability
//   sum over i from low + 1 to high of C(count, i) / 2^count.
// The narrowest interval takes the largest terms, which are those in the middle; it grows from there.
// K. R. Nair, "Table of confidence interval for the median in samples from any continuous population", Sankhya 4, 1940,
// has the narrowest that are symmetrical; those here are at most one rank narrower.
std::optional<OrderBounds> median_bounds(std::uint64_t count, double confidence) {
  // The outermost terms, for no sample or all of them below the median, belong to no interval.
  if (count < 2 || !(confidence < 1)) return std::nullopt;
  constexpr double kRounding = 1e-12;
  const double n = static_cast<double>(count);
  std::uint64_t first = count / 2;  // the terms taken: first to last
  std::uint64_t last = first;
  double first_term = probability_of_half(count);
  double last_term = first_term;
  double covered = first_term;
  while (covered < confidence - kRounding) {
    const double i = static_cast<double>(first);
    const double j = static_cast<double>(last);
    const double before = first > 1 ? first_term * i / (n - i + 1) : 0;
    const double after = last + 1 < count ? last_term * (n - j) / (j + 1) : 0;
    if (before == 0 && after == 0) return std::nullopt;
    // Equal terms differ by rounding.
    if (before >= after * (1 - kRounding)) {
      --first;
      first_term = before;
      covered += before;
    } else {
      ++last;
      last_term = after;
      covered += after;
    }
  }
  return OrderBounds{first - 1, last};
}

Verdict verdict_of(const Ratio& ratio, double same) {
  if (!ratio.interval) return Verdict::undecided;
  const double most = 1 + same;
  const double least = 1 / most;
  if (ratio.interval->low >= least && ratio.interval->high <= most) return Verdict::same;
  if (ratio.interval->low > 1 && ratio.ratio > most) return Verdict::faster;
  if (ratio.interval->high < 1 && ratio.ratio < least) return Verdict::slower;
  return Verdict::undecided;
}

std::string_view name_of(Verdict verdict) { return kVerdictNames[static_cast<std::size_t>(verdict)]; }

Ratio over_launches(std::span<const double> ratios, double confidence, double same) {
  Ratio result;
  if (ratios.empty()) return result;
  const std::vector<double> sorted = in_order(ratios);
  const std::size_t last = sorted.size() - 1;
  result.ratio = std::sqrt(sorted[last / 2] * sorted[sorted.size() / 2]);
  if (const std::optional<OrderBounds> bounds = median_bounds(sorted.size(), confidence)) {
    // Where the bounds are off the middle, they are the lower ones. The upper is the mirror of the lower one, so that
    // it says the same with a and b swapped.
    result.interval = Interval{sorted[bounds->low], sorted[last - bounds->low]};
  }
  result.verdict = verdict_of(result, same);
  return result;
}

Ratio compare(std::span<const double> a, std::span<const double> b, double confidence, double same) {
  TUTTI_ASSERT(a.size() == b.size(), "what is compared has as many rounds");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] > 0 && b[i] > 0)) continue;
    ratios.push_back(std::fabs(a[i] - b[i]) < kClockStep ? 1 : b[i] / a[i]);
  }
  // What holds of launches holds of rounds.
  return over_launches(ratios, confidence, same);
}

std::string_view name_of(Stop stop) { return kStopNames[static_cast<std::size_t>(stop)]; }

Stop should_stop(std::span<const double> round_medians, std::uint64_t num_samples, double seconds_spent,
                 const Budget& budget) {
  if (num_samples >= budget.least_samples && round_medians.size() >= std::max<std::uint64_t>(budget.least_rounds, 1)) {
    const std::vector<double> sorted = in_order(round_medians);
    const std::optional<Interval> interval = interval_of_median(sorted, kConfidence);
    if (interval && (interval->high - interval->low) / 2 <= budget.precision * quantile(sorted, 0.5)) {
      return Stop::precise;
    }
  }
  if (num_samples >= budget.most_samples) return Stop::samples;
  return seconds_spent >= budget.seconds ? Stop::time : Stop::not_yet;
}

}  // namespace tutti::harness
