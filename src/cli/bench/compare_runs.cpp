// SPDX-License-Identifier: Apache-2.0
// Two runs that are in the store, side by side.
#include <array>
#include <ostream>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "bench/store/run_difference.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/bench/compare.hpp"
#include "cli/bench/output/measured_figure.hpp"

namespace tutti::cli {

namespace {

using harness::Row;

struct ComparedRun {
  harness::StoredRun run;
  std::vector<Row> rows;

  [[nodiscard]] std::string name() const {
    return run.name.empty() ? fmt::format("run {}", run.id) : printable(run.name);
  }
};
using Pair = std::array<ComparedRun, 2>;

Result<Pair> read_runs(const CompareOptions& options, const std::vector<std::string>& names, const Context& context) {
  const Result<std::string> path = store_path_to_read(options.keeping.store, context.environment);
  if (!path.ok()) return path.status();
  Result<harness::Store> store = harness::Store::open_to_read(*path);
  if (!store.ok()) return store.status();
  Pair pair;
  for (std::size_t each = 0; each < pair.size(); ++each) {
    Result<harness::StoredRun> run = store->find(names[each]);
    if (!run.ok()) return run.status();
    Result<std::vector<Row>> rows = store->rows_of(run->id);
    if (!rows.ok()) return rows.status();
    pair[each] = {std::move(*run), std::move(*rows)};
  }
  return pair;
}

// What is to be known of them besides their rows.
void tell_runs(const Pair& pair, const Context& context) {
  const harness::StoredRun& first = pair[0].run;
  const harness::StoredRun& second = pair[1].run;
  for (const auto& [what, member] :
       {std::pair("machine", &harness::StoredRun::machine), std::pair("Tutti", &harness::StoredRun::tutti)})
    if (first.*member != second.*member)
      context.error << fmt::format("the runs differ in {}: {} and {}\n", what, first.*member, second.*member);
  if (first.id == second.id) context.error << "both are the same run\n";
  for (const ComparedRun& each : pair)
    if (!each.run.is_complete)
      context.error << fmt::format("{} is not complete: it has {}\n", each.name(), counted(each.rows.size(), "row"));
}

Status match_without(const std::string& name, Pair& pair) {
  for (ComparedRun& each : pair) {
    Result<std::vector<Row>> rows = harness::without(each.rows, name);
    if (!rows.ok()) return rows.status().with_context(fmt::format("{} cannot be compared over {}", each.name(), name));
    each.rows = std::move(*rows);
  }
  return {};
}

// Over what is ignored, or over the only variable or axis in which they differ.
Status choose_what_differs(const std::string& ignored, Pair& pair, const Context& context) {
  const std::vector<harness::RunDifference> differences = harness::differences_of(pair[0].rows, pair[1].rows);
  if (!ignored.empty()) {
    if (!harness::have_variable_or_axis(pair[0].rows, ignored) &&
        !harness::have_variable_or_axis(pair[1].rows, ignored))
      return wrong_argument(fmt::format("--ignore is {}; neither run has such a variable or axis", in_quotes(ignored)));
    TUTTI_TRY(match_without(ignored, pair));
  } else if (differences.size() == 1) {
    TUTTI_TRY(match_without(differences.front().name, pair));
  }
  for (const harness::RunDifference& each : differences) {
    const bool is_matched = ignored.empty() ? differences.size() == 1 : each.name == ignored;
    context.error << printable(fmt::format("{} in {}: {}, in {}: {}{}", each.name, pair[0].name(), each.first,
                                           pair[1].name(), each.second, is_matched ? "; compared over it" : ""))
                  << "\n";
  }
  return {};
}

// Each run's rows are competitors of their own.
Status draw(const Pair& pair, const std::string& path, const Context& context) {
  std::vector<Row> rows;
  for (const ComparedRun& each : pair)
    for (const Row& row : each.rows) rows.emplace_back(row).peer = fmt::format("{}: {}", each.name(), row.peer);
  harness::StoredRun both = pair[0].run;
  both.id = 0;
  both.command = fmt::format("{} and {}, of {}", pair[0].name(), pair[1].name(), pair[1].run.begun);
  if (pair[1].run.machine != both.machine) both.machine += "\n" + pair[1].run.machine;
  return write_figure(path, rows, both, Quantity::time, context);
}

}  // namespace

Exit compare_runs(const CompareOptions& options, const std::vector<std::string>& names, const std::string& ignored,
                  const Context& context) {
  const auto refuse = [&](const Status& status) { return failed(context, "compare", status); };
  if (names.size() != 2)
    return refuse(
        wrong_argument(fmt::format("{} {} named; compare takes two", counted(names.size(), "run"), are(names.size()))));
  const Result<std::optional<FailOn>> fail_on = read_fail_on(options.fail_on);
  if (!fail_on.ok()) return refuse(fail_on.status());
  Result<Pair> pair = read_runs(options, names, context);
  if (!pair.ok()) return refuse(pair.status());
  tell_runs(*pair, context);
  if (const Status chosen = choose_what_differs(ignored, *pair, context); !chosen.ok()) return refuse(chosen);
  const auto& [first, second] = *pair;
  if (const Status drawn = draw(*pair, options.figure, context); !drawn.ok()) return refuse(drawn);
  return conclude(harness::Comparison::of_runs(harness::join_launches(first.rows), harness::join_launches(second.rows),
                                               {first.name(), second.name()}),
                  0, *fail_on, options, context);
}

}  // namespace tutti::cli
