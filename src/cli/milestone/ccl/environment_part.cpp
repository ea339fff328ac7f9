// SPDX-License-Identifier: Apache-2.0
// A sweep of a peer's environment (rows A3, A11): the all-reduce algorithms of an MPI by the variables that force them,
// as its users would sweep them in a shell loop.
#include <array>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/measured.hpp"

namespace tutti::cli {

namespace {

// A peer, what its environment has in every run, and the variable that is swept.
struct SweptPeer {
  std::string_view peer;
  std::string_view fixed;  // empty: nothing
  std::string_view variable;
  std::string_view values;
};
constexpr std::array<SweptPeer, 2> kSweptPeers = {
    {{"openmpi", "OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm",
      "unset,1,2,3,4,5,6"},
     {"mpich", "", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "unset,recursive_doubling,reduce_scatter_allgather"}}};

// The first that is here.
const SweptPeer* find_swept(const BenchWorld& bench) {
  for (const SweptPeer& each : kSweptPeers)
    if (is_peer_here(bench, each.peer)) return &each;
  return nullptr;
}

struct EnvironmentSweep {
  SweepPlan plan;
  std::vector<std::uint64_t> sizes;
  std::string budget;
  std::string name;  // in front of sizes
};
Result<EnvironmentSweep> environment_sweep(const PartWorld& world) {
  const SweptPeer* const swept = find_swept(world.bench);
  if (swept == nullptr)
    return Status(Code::unsupported, "this sweeps the environment of openmpi or mpich, and neither is here");
  EnvironmentSweep sweep;
  sweep.budget = world.is_full ? "1s" : "100ms";
  sweep.name = swept->variable;
  SweepOptions options;
  options.bench = "all_reduce";
  options.peers = swept->peer;
  options.budget = sweep.budget;
  if (!swept->fixed.empty()) options.env.emplace_back(swept->fixed);
  options.env.push_back(fmt::format("{}={}", swept->variable, swept->values));
  const std::string_view sizes = world.is_full ? "8:16M:x8" : "8,4K,64K,1M";
  options.axes.push_back(fmt::format("bytes={}", sizes));
  TUTTI_TRY_ASSIGN(const std::vector<Bytes> list, parse_byte_list(sizes));
  for (const Bytes each : list) sweep.sizes.push_back(each.value());
  TUTTI_TRY_ASSIGN(sweep.plan, measured_plan(std::move(options), world));
  sweep.budget += fmt::format(", {}", identity_of(sweep.plan));
  return sweep;
}

Result<std::vector<PartCase>> environment_cases(const PartWorld& world) {
  TUTTI_TRY_ASSIGN(const EnvironmentSweep sweep, environment_sweep(world));
  return cases_of_sizes(sweep.plan, sweep.sizes, sweep.budget);
}

// "openmpi OMPI_MCA_coll_tuned_allreduce_algorithm=3" as "algorithm=3"; what is the same in all is not in labels.
std::string short_name(const std::string& label, std::string_view variable) {
  const std::size_t at = label.find(variable);
  if (at == label.npos) return label;
  return label.substr(0, label.find(' ') + 1) + label.substr(at + variable.rfind('_') + 1);
}

Status make_environment(std::span<const PartCase> pending, const PartWorld& world, const PartSink& sink) {
  TUTTI_TRY_ASSIGN(EnvironmentSweep sweep, environment_sweep(world));
  const std::set<std::uint64_t> sizes = sizes_of(pending, sweep.sizes, sweep.budget);
  const std::string variable = sweep.name;
  const std::string budget = sweep.budget;
  return measure_sizes(
      std::move(sweep.plan), sizes, world, [&](std::uint64_t bytes, std::span<const harness::Row> rows) {
        return sink({.name = name_of_size(bytes, budget),
                     .rows = rows_of_competitors(
                         rows, false, {}, [&](const std::string& label) { return short_name(label, variable); })});
      });
}

Result<PartShown> show_environment(const PartRows& rows) {
  PartShown shown;
  shown.is_right = are_right(rows, shown.cautions);
  shown.answer = bests_in_words(rows);
  report::LineChart chart = chart_of_competitors(rows, "All-reduce by the environment of a peer");
  if (!chart.panels.empty())
    shown.figures.push_back({.file = "environment", .title = chart.title, .lines = std::move(chart)});
  shown.tables.push_back({.file = "environment_best",
                          .table = {.title = "All-reduce by environment, in microseconds",
                                    .table = table_of_sizes(rows),
                                    .remark = remark_of_sizes()},
                          .is_data = true});
  return shown;
}

}  // namespace

Part environment_part() {
  return {.name = "environment",
          .title = "The environment of a peer",
          .about = "the all-reduce algorithms of Open MPI or MPICH by their variables",
          .columns = measured_columns(),
          .cases = environment_cases,
          .make_together = make_environment,
          .show = show_environment};
}

}  // namespace tutti::cli
