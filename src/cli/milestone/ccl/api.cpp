// SPDX-License-Identifier: Apache-2.0
// All-reduces of a program that calls the public API on simulated fabrics (rows C3 and C15): the benchmark's own worker
// with TUTTI_FABRIC, whose results are checked as in every benchmark, and whose virtual time must be that of the
// schedule simulated by itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/results/cells.hpp"
#include "bench/views/views.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/measured.hpp"
#include "cli/milestone/shared/simulated.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kVariable = "TUTTI_FABRIC";
constexpr std::string_view kPrefix = "simulate:";
constexpr std::string_view kForced = "ring";
// One element of each rank at least, no multiple of anything, and the longest of the sweep.
constexpr std::array<std::uint64_t, 3> kSizes = {12, 12014, 98304};
constexpr std::string_view kBudget = "20ms";

Result<SweepPlan> api_plan(const PartWorld& world) {
  if (!is_peer_here(world.bench, "tutti")) return Status(Code::unsupported, "the worker of tutti is not here");
  SweepOptions options;
  options.bench = "all_reduce";
  options.peers = "tutti";
  options.budget = kBudget;
  options.least_samples = "1";
  options.sync = "meeting";
  options.axes = {"num_ranks=6", "type=f16", fmt::format("bytes={}", fmt::join(kSizes, ","))};
  std::vector<std::string> fabrics;
  for (const Topology& each : kTopologies) fabrics.push_back(fmt::format("{}{}", kPrefix, each.packages));
  options.env = {fmt::format("{}={}", kVariable, fmt::join(fabrics, ",")),
                 fmt::format("TUTTI_ALLREDUCE_ALGORITHM={}", kForced)};
  return measured_plan(std::move(options), world);
}

Result<std::vector<PartCase>> api_cases(const PartWorld& world) {
  TUTTI_TRY_ASSIGN(const SweepPlan plan, api_plan(world));
  return cases_of_sizes(plan, {kSizes.begin(), kSizes.end()}, std::string(kBudget));
}

std::string fabric_in(const harness::Row& row) {
  for (const harness::Setting& setting : row.settings)
    if (setting.name == kVariable && setting.value) return setting.value->substr(kPrefix.size());
  return "";
}

Result<PartRow> row_of_api(const harness::Row& row, std::uint64_t bytes) {
  const std::string fabric = fabric_in(row);
  SimulatedWay way;
  way.fabric = fabric;
  way.algorithm = kForced;
  TUTTI_TRY_ASSIGN(const simulate::Answer answer, simulate_all_reduce(way, bytes));
  const auto found = row.counters.find("virtual_us");
  const double simulated = answer.time / 1e3;
  const bool has_time = found != row.counters.end();
  // Both are the same number; a row carries it in decimals.
  const bool is_equal = has_time && std::abs(found->second - simulated) <= 1e-9 * simulated;
  return PartRow{fabric,
                 whole_cell(static_cast<std::uint64_t>(row.num_ranks)),
                 std::string(kForced),
                 whole_cell(bytes),
                 std::string(name_of(row.outcome)),
                 row.is_checked,
                 has_time ? Cell(found->second) : Cell(),
                 simulated,
                 is_equal,
                 harness::text_or_null(row.outcome == harness::Outcome::ok ? warnings(row) : row.note)};
}

Status make_api(std::span<const PartCase> pending, const PartWorld& world, const PartSink& sink) {
  TUTTI_TRY_ASSIGN(SweepPlan plan, api_plan(world));
  const std::set<std::uint64_t> sizes = sizes_of(pending, kSizes, std::string(kBudget));
  return measure_sizes(std::move(plan), sizes, world,
                       [&](std::uint64_t bytes, std::span<const harness::Row> rows) -> Status {
                         CaseRows made{.name = name_of_size(bytes, std::string(kBudget)), .error = {}, .rows = {}};
                         for (const harness::Row& row : rows) {
                           TUTTI_TRY_ASSIGN(PartRow of, row_of_api(row, bytes));
                           made.rows.push_back(std::move(of));
                         }
                         return sink(made);
                       });
}

Result<PartShown> show_api(const PartRows& rows) {
  PartShown shown;
  std::size_t right = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const bool is_right = rows.text(row, "outcome") == name_of(harness::Outcome::ok) && rows.is_true(row, "checked") &&
                          rows.is_true(row, "is_equal");
    right += is_right ? 1 : 0;
    if (!is_right)
      shown.cautions.push_back({fmt::format("{}, {} bytes: {}; virtual time {} us, simulated {} us; {}",
                                            rows.text(row, "fabric"), rows.number(row, "bytes").value_or(0),
                                            rows.text(row, "outcome"), rows.number(row, "virtual_us").value_or(0),
                                            rows.number(row, "simulated_us").value_or(0), rows.text(row, "note")),
                                true});
  }
  shown.is_right = right == rows.size();
  if (rows.size() > 0)
    shown.answer = {
        fmt::format("{} of {} all-reduces of a program of six ranks, through the public API on {} simulated "
                    "fabrics, give the right data, and take what their schedules take.",
                    right, rows.size(), rows.texts("fabric").size())};
  shown.tables.push_back({.file = "api_times",
                          .table = {.title = "A program on simulated fabrics", .table = rows.table(), .remark = ""},
                          .is_data = false});
  return shown;
}

}  // namespace

Part api_part() {
  return {.name = "api",
          .title = "The public API on simulated fabrics",
          .about = "a program of six ranks with TUTTI_FABRIC: its data, and its virtual time beside the schedules'",
          .columns = {{"fabric"},
                      {"ranks"},
                      {"algorithm"},
                      {"bytes"},
                      {"outcome"},
                      {"checked"},
                      time_column("virtual_us"),
                      time_column("simulated_us"),
                      {"is_equal"},
                      {.name = "note", .wrap_at = 60}},
          .cases = api_cases,
          .make_together = make_api,
          .show = show_api};
}

}  // namespace tutti::cli
