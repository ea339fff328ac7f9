// SPDX-License-Identifier: Apache-2.0
// Two runs that are in the store, side by side.
#include <ostream>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/bench/compare.hpp"
#include "cli/bench/output/measured_figure.hpp"
#include "cli/bench/run_pair.hpp"

namespace tutti::cli {

namespace {

using harness::Row;

Result<RunPair> read_runs(const CompareOptions& options, const std::vector<std::string>& names,
                          const Context& context) {
  const Result<std::string> path = store_path_to_read(options.keeping.store, context.environment);
  if (!path.ok()) return path.status();
  Result<harness::Store> store = harness::Store::open_to_read(*path);
  if (!store.ok()) return store.status();
  RunPair pair;
  for (std::size_t each = 0; each < pair.size(); ++each) {
    Result<RunWithRows> run = read_run(*store, names[each]);
    if (!run.ok()) return run.status();
    pair[each] = std::move(*run);
  }
  return pair;
}

// Each run's rows are competitors of their own.
Status draw(const RunPair& pair, const std::string& path, const Context& context) {
  std::vector<Row> rows;
  for (const RunWithRows& each : pair)
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
  Result<RunPair> pair = read_runs(options, names, context);
  if (!pair.ok()) return refuse(pair.status());
  for (const std::string& remark : remarks_on(*pair)) context.error << remark << "\n";
  const Result<std::vector<std::string>> differences = match(*pair, ignored);
  if (!differences.ok()) return refuse(differences.status());
  for (const std::string& difference : *differences) context.error << difference << "\n";
  if (const Status drawn = draw(*pair, options.figure, context); !drawn.ok()) return refuse(drawn);
  return conclude(comparison_of(*pair), 0, *fail_on, options, context);
}

}  // namespace tutti::cli
