// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/run_pair.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "bench/axes/algorithm_axis.hpp"
#include "bench/axes/declaration.hpp"
#include "bench/store/run_difference.hpp"

namespace tutti::cli {

namespace {

Status match_without(const std::string& name, RunPair& pair) {
  for (RunWithRows& each : pair) {
    Result<std::vector<harness::Row>> rows = harness::without(each.rows, name);
    if (!rows.ok()) return rows.status().with_context(fmt::format("{} cannot be compared over {}", each.name(), name));
    each.rows = std::move(*rows);
  }
  return {};
}

}  // namespace

std::string RunWithRows::name() const { return run.name.empty() ? fmt::format("run {}", run.id) : printable(run.name); }

Result<RunWithRows> read_run(harness::Store& store, const std::string& name) {
  Result<harness::StoredRun> run = store.find(name);
  if (!run.ok()) return run.status();
  Result<std::vector<harness::Row>> rows = store.rows_of(run->id);
  if (!rows.ok()) return rows.status();
  return RunWithRows{.run = std::move(*run), .rows = std::move(*rows)};
}

std::vector<std::string> remarks_on(const RunPair& pair) {
  std::vector<std::string> remarks;
  const harness::StoredRun& first = pair[0].run;
  const harness::StoredRun& second = pair[1].run;
  for (const auto& [what, member] :
       {std::pair("machine", &harness::StoredRun::machine), std::pair("Tutti", &harness::StoredRun::tutti)})
    if (first.*member != second.*member)
      remarks.push_back(fmt::format("the runs differ in {}: {} and {}", what, first.*member, second.*member));
  if (first.id == second.id) remarks.emplace_back("both are the same run");
  for (const RunWithRows& each : pair)
    if (!each.run.is_complete)
      remarks.push_back(fmt::format("{} is not complete: it has {}", each.name(), counted(each.rows.size(), "row")));
  return remarks;
}

Result<std::vector<std::string>> match(RunPair& pair, const std::string& ignored) {
  const std::vector<harness::RunDifference> differences = harness::differences_of(pair[0].rows, pair[1].rows);
  if (!ignored.empty()) {
    if (!harness::have_variable_or_axis(pair[0].rows, ignored) &&
        !harness::have_variable_or_axis(pair[1].rows, ignored))
      return wrong_argument(fmt::format("--ignore is {}; neither run has such a variable or axis", in_quotes(ignored)));
    TUTTI_TRY(match_without(ignored, pair));
  } else if (differences.size() == 1) {
    TUTTI_TRY(match_without(differences.front().name, pair));
  }
  std::vector<std::string> words;
  for (const harness::RunDifference& each : differences) {
    const bool is_matched = ignored.empty() ? differences.size() == 1 : each.name == ignored;
    words.push_back(printable(fmt::format("{} in {}: {}, in {}: {}{}", each.name, pair[0].name(), each.first,
                                          pair[1].name(), each.second, is_matched ? "; compared over it" : "")));
  }
  return words;
}

harness::Comparison comparison_of(const RunPair& pair) {
  return harness::Comparison::of_runs(harness::join_launches(pair[0].rows), harness::join_launches(pair[1].rows),
                                      {pair[0].name(), pair[1].name()});
}

bool is_by_algorithm(const std::string& bench, const BenchWorld& world) {
  const harness::Declaration* declaration = harness::find(world.benches, bench);
  return world.algorithms_of && declaration != nullptr &&
         std::none_of(declaration->axes.begin(), declaration->axes.end(),
                      [](const harness::Axis& axis) { return same_name(axis.name, harness::kAlgorithmAxis); });
}

harness::Comparison comparison_of(const RunWithRows& run, const BenchWorld& world) {
  return harness::Comparison::of_peers(harness::join_launches(run.rows), run.run.is_paired,
                                       is_by_algorithm(run.run.bench, world));
}

}  // namespace tutti::cli
