// SPDX-License-Identifier: Apache-2.0
// For parts that measure: a sweep in which competitors take turns, size by size, and the rows made from it. Main thread
// only, except what is pure.
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

// The columns of such a part, which has a row for each size and competitor.
[[nodiscard]] std::vector<Column> measured_columns();

// The name of a competitor in the rows, from its label.
using CompetitorName = std::function<std::string(const std::string& label)>;

// The rows of one size: times with their intervals, the best, those that cannot be told from it over the rounds, and
// the speed-up over the baseline. The baseline is the first competitor whose label begins with one of `baselines`, of
// which earlier ones come first, or else the first competitor. Pure.
[[nodiscard]] std::vector<PartRow> rows_of_competitors(std::span<const harness::Row> rows, bool by_algorithm,
                                                       const std::vector<std::string>& baselines,
                                                       const CompetitorName& name);

[[nodiscard]] bool is_peer_here(const BenchWorld& bench, std::string_view name);
[[nodiscard]] Result<SweepPlan> measured_plan(SweepOptions options, const PartWorld& world);
// What tells it from other sweeps, for the names of cases: rows of another one are not gone on with.
[[nodiscard]] std::string identity_of(const SweepPlan& plan);
// Estimated, for all cases together.
[[nodiscard]] double seconds_of(const SweepPlan& plan);

// Measures one size after another, with all groups in turns. Ends after an interrupt.
using OnSize = std::function<Status(std::uint64_t bytes, std::span<const harness::Row> rows)>;
[[nodiscard]] Status measure_sizes(SweepPlan plan, const std::set<std::uint64_t>& sizes, const PartWorld& world,
                                   const OnSize& on_size);

// A case for each size of the plan, which the part makes together: "64K, at most 200ms".
[[nodiscard]] std::vector<PartCase> cases_of_sizes(const SweepPlan& plan, const std::vector<std::uint64_t>& sizes,
                                                   const std::string& budget);
[[nodiscard]] std::string name_of_size(std::uint64_t bytes, const std::string& budget);
// Those of the sizes whose cases are pending.
[[nodiscard]] std::set<std::uint64_t> sizes_of(std::span<const PartCase> pending, std::span<const std::uint64_t> sizes,
                                               const std::string& budget);

// --- what is shown of such rows; pure

// Whether all results are right. Adds a caution for each that is wrong or could not be measured.
[[nodiscard]] bool are_right(const PartRows& rows, std::vector<report::Caution>& cautions);
// Times over sizes, a line for each competitor.
[[nodiscard]] report::LineChart chart_of_competitors(const PartRows& rows, std::string title);
// Whether sentences and comparisons are about a size; null: about all.
using SizeFilter = std::function<bool(double bytes)>;
// A line for each size: the best with its speed-up over the baseline, each time, and ties within the interval. Of sizes
// that are not compared, only times.
[[nodiscard]] Table table_of_sizes(const PartRows& rows, const SizeFilter& is_compared = nullptr);
// How a competitor compares with the baseline over all sizes: "1.21 times as fast as openmpi default (geometric mean of
// 4 sizes; 0.98 to 2.04)". Empty if they have no size in common.
[[nodiscard]] std::string standing_in_words(const PartRows& rows, std::string_view competitor,
                                            const SizeFilter& is_meant = nullptr);
// The size as people read it: "64 KB".
[[nodiscard]] std::string size_in_words(double bytes);
// For each size: "At 4 MB the fastest is openmpi ring with 900 us, 1.21 times as fast as openmpi default." With ties:
// "At 8 B none is the fastest alone: a takes 130 ns, level with b and c." What the interval leaves open is not said.
[[nodiscard]] std::vector<std::string> bests_in_words(const PartRows& rows, const SizeFilter& is_meant = nullptr);
// What a reader of table_of_sizes() must know.
[[nodiscard]] std::string remark_of_sizes();

}  // namespace tutti::cli
