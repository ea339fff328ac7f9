// SPDX-License-Identifier: Apache-2.0
// The cases of a comparison that differ in size alone: whoever competes in them, who is nearest to the best over all of
// them, and who is best in which range of sizes. Pure; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/results/comparison.hpp"
#include "bench/views/case_names.hpp"

namespace tutti::cli {

// How one competitor stands to another over some cases.
struct PairStanding {
  std::size_t other = 0;
  std::size_t num_cases = 0;  // with times of both
  double mean = 1;            // how many times as fast it is as the other: the geometric mean
  double least = 1;
  double greatest = 1;
  std::array<std::size_t, 4> verdicts = {};  // by harness::Verdict

  [[nodiscard]] std::size_t count(harness::Verdict verdict) const {
    return verdicts.at(static_cast<std::size_t>(verdict));
  }
};
[[nodiscard]] std::optional<PairStanding> standing_of(const harness::Comparison& comparison,
                                                      const std::vector<std::size_t>& cases, std::size_t one,
                                                      std::size_t other);

// Neighbouring sizes with one best.
struct Stretch {
  std::string first;  // sizes as people read them
  std::string last;
  std::size_t num_cases = 0;
  std::size_t best = 0;
  std::vector<std::size_t> ties;  // who cannot be told from it at some of them
  // How many times as fast it is as the next that can be told from it, least and greatest.
  std::optional<double> least_lead;
  std::optional<double> greatest_lead;
};

struct CaseGroup {
  std::string name;                      // "4 ranks, type=f32"; empty where there is but one group
  std::vector<std::size_t> cases;        // by size, where they have sizes
  std::vector<std::string> labels;       // of these
  bool has_sizes = false;                // labels are numbers of bytes, or of whatever `column` says
  std::string column;                    // "bytes"
  std::vector<std::size_t> competitors;  // that have a time in any of them
  std::optional<std::size_t> leader;     // of those with the most times, the one nearest to the best
};

[[nodiscard]] std::vector<CaseGroup> groups_of(const harness::Comparison& comparison, const harness::CaseNames& names);
[[nodiscard]] std::vector<Stretch> stretches_of(const CaseGroup& group,
                                                const std::vector<harness::Standing>& standings);

// The median in nanoseconds of a row that is right.
[[nodiscard]] std::optional<double> median_in(const harness::ComparedCase& one, std::size_t competitor);

}  // namespace tutti::cli
