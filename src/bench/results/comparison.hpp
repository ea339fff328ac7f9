// SPDX-License-Identifier: Apache-2.0
// Rows of several competitors set side by side, case by case, and the two tables that are made of that: each against
// the first, and the best of all. Values; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/results/result.hpp"
#include "bench/views/table.hpp"
#include "bench/views/views.hpp"

namespace tutti::harness {

// From so many launches on there is an interval over them (median_bounds()), and so a verdict.
inline constexpr std::size_t kLeastLaunches = 6;

struct ComparedCase {
  std::vector<std::optional<Row>> rows;  // of each competitor that has the case; at least one

  [[nodiscard]] const Row& any() const;
};

struct Comparison {
  std::vector<std::string> competitors;  // what they are called, no two alike
  std::vector<ComparedCase> cases;
  View view;               // what tells cases apart
  bool is_paired = false;  // whether the rounds of one case are pairs

  // By algorithm: what the axis of that name says of a row is who competes, not which case it is.
  [[nodiscard]] static Comparison of_peers(const std::vector<Row>& rows, bool is_paired, bool by_algorithm = false);
  // Cases that only one of the runs has are there as well.
  [[nodiscard]] static Comparison of_runs(const std::vector<Row>& first, const std::vector<Row>& second,
                                          const std::vector<std::string>& names);

  // The ratio of two competitors; none if either has no valid times. Memory placement of a process is a factor too. So
  // with fewer than kLeastLaunches launches of measured competitors there is no interval, and the verdict is undecided.
  [[nodiscard]] std::optional<Ratio> compare(const ComparedCase& one, std::size_t a, std::size_t b) const;
  // The same, where the interval over the rounds of one launch will do.
  [[nodiscard]] std::optional<Ratio> compare_by_rounds(const ComparedCase& one, std::size_t a, std::size_t b) const;
};

// The missing evidence: which cases have too few launches, and how many they need. Empty if nothing is missing.
[[nodiscard]] std::string lacking_launches(const Comparison& comparison);

// What is to be said of a case's rows, and whose: "a, b: more ranks than cores; c: error: gone". Safe to show.
[[nodiscard]] std::string notes_of(const Comparison& comparison, const ComparedCase& one);

// After what tells cases apart: each competitor's median, and for all but the first how it stands to the first.
[[nodiscard]] Table table_of_pairs(const Comparison& comparison);

// One line a case: each competitor's median, which is best and who cannot be told from it, and how much faster than the
// baseline the best is. Of a single launch, ties and intervals are over its rounds. Where rounds are pairs, the best is
// chosen by half of them and scored by the other half: of many that are alike the one that looks best is a little worse
// than it looks. For people the notes stand apart.
[[nodiscard]] Table table_of_best(const Comparison& comparison, std::size_t baseline);

// Of each case: who is best, none where nobody has times, and who cannot be told from it by the rows that score.
struct Standing {
  ComparedCase scored;
  std::optional<std::size_t> best;
  std::vector<std::size_t> ties;
};
[[nodiscard]] std::vector<Standing> standings_of(const Comparison& comparison);
[[nodiscard]] Table table_of_best(const Comparison& comparison, const std::vector<Standing>& standings,
                                  std::size_t baseline);

}  // namespace tutti::harness
