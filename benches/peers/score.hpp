// SPDX-License-Identifier: Apache-2.0
// What a bar is made of: figures, each beside what it must be, and what can be told from several of them. Values and
// pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::bars {

struct Interval {
  double low = 0;
  double high = 0;
};

// Who else does it: a peer, and its algorithm ("default" where it chooses).
struct Rival {
  std::string peer;
  std::string algorithm;
  auto operator<=>(const Rival&) const = default;  // NOLINT(modernize-use-nullptr): its 0 is no pointer
};

// Tutti beside a rival, measured in turns.
struct Score {
  double own_us = 0;
  double rival_us = 0;
  double ratio = 0;  // how many times as fast Tutti is, round by round
  std::optional<Interval> interval;
};

// One line of the report. What was not measured has no value, and is missed.
struct Figure {
  int bar = 0;
  std::string what;  // "ratio", "geometric mean", ...
  std::string collective;
  int num_ranks = 0;
  std::optional<std::int64_t> bytes;  // none: of all sizes, or of a barrier
  std::optional<double> own_us;
  std::string rival;  // whom it is compared with
  std::optional<double> rival_us;
  std::optional<double> value;
  std::optional<Interval> interval;
  // What the value must reach, or not exceed. Neither: it is only shown.
  std::optional<double> least;
  std::optional<double> most;
};

enum class Verdict : std::uint8_t { met, missed, shown };
// A value above `most` is not missed where its interval reaches below.
[[nodiscard]] Verdict verdict_of(const Figure& figure);

// Of positive numbers; none of none.
[[nodiscard]] std::optional<double> geometric_mean(const std::vector<double>& values);
[[nodiscard]] double median_of(std::vector<double> values);

// A time by size, and the interval of its median.
struct Time {
  double us = 0;
  Interval interval;
};
using Times = std::map<std::int64_t, Time>;
// How far a size lies above the straight line between its neighbours, both axes being logarithmic; of all that have
// two.
[[nodiscard]] std::map<std::int64_t, double> over_interpolation(const Times& times);
// Each size's time over that of the next larger one, with the interval from the least to the most that it may be.
struct Step {
  double ratio = 0;
  Interval interval;
};
[[nodiscard]] std::map<std::int64_t, Step> over_next(const Times& times);

}  // namespace tutti::bars
