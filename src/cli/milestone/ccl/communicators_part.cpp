// SPDX-License-Identifier: Apache-2.0
// Every algorithm of every peer that is on this machine, in all-reduces of rows of 8192 elements of 2 bytes (row D3).
#include <array>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/bench/communicators.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/measured.hpp"
#include "cli/milestone/shared/simulated.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint64_t kBytesOfRow = 8192 * 2;

struct CommunicatorSweep {
  SweepPlan plan;
  std::vector<std::uint64_t> sizes;
  std::string budget;
};
Result<CommunicatorSweep> communicator_sweep(const PartWorld& world) {
  CommunicatorSweep sweep;
  sweep.budget = world.is_full ? "1s" : "150ms";
  SweepOptions options;
  options.quick = !world.is_full;
  options.budget = sweep.budget;
  options = sweep_of_communicators(std::move(options));
  TUTTI_TRY_ASSIGN(sweep.plan, measured_plan(std::move(options), world));
  sweep.budget += fmt::format(", {}", identity_of(sweep.plan));
  for (const int rows : rows_of_communicators(!world.is_full))
    sweep.sizes.push_back(static_cast<std::uint64_t>(rows) * kBytesOfRow);
  return sweep;
}

Result<std::vector<PartCase>> communicator_cases(const PartWorld& world) {
  if (!is_peer_here(world.bench, "tutti")) return Status(Code::unsupported, "the peer tutti is not here");
  TUTTI_TRY_ASSIGN(const CommunicatorSweep sweep, communicator_sweep(world));
  return cases_of_sizes(sweep.plan, sweep.sizes, sweep.budget);
}

Status make_communicators(std::span<const PartCase> pending, const PartWorld& world, const PartSink& sink) {
  TUTTI_TRY_ASSIGN(CommunicatorSweep sweep, communicator_sweep(world));
  const std::set<std::uint64_t> sizes = sizes_of(pending, sweep.sizes, sweep.budget);
  const std::string budget = sweep.budget;
  return measure_sizes(
      std::move(sweep.plan), sizes, world, [&](std::uint64_t bytes, std::span<const harness::Row> rows) {
        return sink({.name = name_of_size(bytes, budget),
                     .rows = rows_of_competitors(rows, true, {"openmpi default", "openmpi", "mpich", "gloo"},
                                                 [](const std::string& label) { return label; })});
      });
}

Result<PartShown> show_communicators(const PartRows& rows) {
  PartShown shown;
  shown.is_right = are_right(rows, shown.cautions);
  if (const std::string standing = standing_in_words(rows, "tutti default"); !standing.empty())
    shown.answer = {fmt::format("As it chooses by itself, Tutti is {}.", standing)};
  for (std::string& each : bests_in_words(rows)) shown.answer.push_back(std::move(each));
  report::LineChart chart = chart_of_competitors(rows, "All-reduce: every algorithm of every peer");
  if (!chart.panels.empty())
    shown.figures.push_back({.file = "communicators", .title = chart.title, .lines = std::move(chart)});
  shown.tables.push_back(
      {.file = "communicators_best",
       .table = {.title = "All-reduce of rows of 8192 elements of 2 bytes, in microseconds",
                 .table = table_of_sizes(rows),
                 .remark = remark_of_sizes() +
                           " The type is bf16 where NCCL or RCCL is measured, and else f32, which moves the same "
                           "bytes: MPI has no bf16."},
       .is_data = true});
  return shown;
}

}  // namespace

Part communicators_part() {
  return {.name = "communicators",
          .title = "Every algorithm of every peer",
          .about = "all algorithms of all peers that are here, side by side",
          .columns = measured_columns(),
          .cases = communicator_cases,
          .make_together = make_communicators,
          .show = show_communicators};
}

}  // namespace tutti::cli
