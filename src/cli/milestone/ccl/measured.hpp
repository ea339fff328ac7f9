// SPDX-License-Identifier: Apache-2.0
// Parts that measure: a sweep in which competitors take turns, size by size, and what becomes of its rows. Main thread
// only, but for what is pure.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "bench/results/result.hpp"
#include "cli/bench/sweep/sweep_options.hpp"
#include "cli/milestone/milestone.hpp"

namespace tutti::cli {

// What such a part has: a row for each size and competitor.
[[nodiscard]] std::vector<Column> measured_columns();

// What a competitor is called in the rows, by its label.
using CompetitorName = std::function<std::string(const std::string& label)>;

// The rows of one size: times with their intervals, who is best and who cannot be told from it over the rounds, and the
// speed-up over the baseline, which is the first competitor whose label begins with the first of the words that any
// has, or else the first of all. Pure.
[[nodiscard]] std::vector<PartRow> rows_of_competitors(std::span<const harness::Row> rows, bool by_algorithm,
                                                       const std::vector<std::string>& baselines,
                                                       const CompetitorName& name);

[[nodiscard]] bool is_peer_here(const BenchWorld& bench, std::string_view name);
[[nodiscard]] Result<SweepPlan> measured_plan(SweepOptions options, const PartWorld& world);
// About, for all cases together.
[[nodiscard]] double seconds_of(const SweepPlan& plan);

// The sizes, one after another, of all groups in turns. Ends after an interrupt.
using OnSize = std::function<Status(std::uint64_t bytes, std::span<const harness::Row> rows)>;
[[nodiscard]] Status measure_sizes(SweepPlan plan, const std::set<std::uint64_t>& sizes, const PartWorld& world,
                                   const OnSize& on_size);

// A case for each size of the plan, which the part makes together: "64K, at most 200ms".
[[nodiscard]] std::vector<PartCase> cases_of_sizes(const SweepPlan& plan, const std::vector<std::uint64_t>& sizes,
                                                   const std::string& budget);
[[nodiscard]] std::string name_of_size(std::uint64_t bytes, const std::string& budget);

// --- what is shown of such rows; pure

// Whether all results are right; what could not be measured or is wrong as cautions.
[[nodiscard]] bool are_right(const PartRows& rows, std::vector<report::Caution>& cautions);
// Times over sizes, a line each competitor.
[[nodiscard]] report::LineChart chart_of_competitors(const PartRows& rows, std::string title);
// A line a size: each time, the best with its speed-up over the baseline, and ties within the interval.
[[nodiscard]] Table table_of_sizes(const PartRows& rows);
// "At 4 MB the fastest is openmpi ring with 900 us, 1.21 times as fast as openmpi default.", of each size.
// How a competitor stands to the baseline over all sizes: "1.21 times as fast as openmpi default (geometric mean of 4
// sizes; 0.98 to 2.04)". Empty where they have no size in common.
[[nodiscard]] std::string standing_in_words(const PartRows& rows, std::string_view competitor);
// The size as people read it: "64 KB".
[[nodiscard]] std::string size_in_words(double bytes);
[[nodiscard]] std::vector<std::string> bests_in_words(const PartRows& rows);

}  // namespace tutti::cli
