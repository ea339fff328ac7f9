// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/tune_results.hpp"

#include <algorithm>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "bench/views/narrow_table.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/tune/results/results_input.hpp"
#include "cli/tune/tune_report.hpp"
#include "table/table_file.hpp"
#include "tune/regret.hpp"
#include "tune/timings.hpp"

namespace tutti::cli {

namespace {

using tune::MachineCell;

Result<std::vector<MachineCell>> read_cells_of_machine(const TuneOptions& options, ReadResults& results,
                                                       const Context& context) {
  std::size_t repeated = 0;
  std::vector<MachineCell> cells = tune::cells_of(results.timings, repeated);
  context.error << fmt::format("read {}, {}\n", results.what, counted(cells.size(), "cell"));
  for (const std::string& each : results.left_out) context.error << fmt::format("left out {}\n", each);
  if (repeated > 0)
    context.error << fmt::format("left out {}: if a way has several times in a cell, the median counts\n",
                                 counted(repeated, "time"));
  std::vector<std::string> machines;
  for (const MachineCell& cell : cells)
    if (std::find(machines.begin(), machines.end(), cell.machine) == machines.end()) machines.push_back(cell.machine);
  if (machines.empty()) return wrong_argument(fmt::format("{} has no times of ways", in_quotes(options.from)));
  if (options.machine.empty() && machines.size() > 1)
    return wrong_argument(fmt::format("the results are of {}; --machine says which of them: {}",
                                      counted(machines.size(), "machine"), fmt::join(machines, ", ")));
  if (options.machine.empty()) return cells;
  std::erase_if(cells, [&](const MachineCell& cell) { return !same_name(cell.machine, options.machine); });
  if (cells.empty())
    return wrong_argument(
        fmt::format("--machine is {}; the results have {}", in_quotes(options.machine), fmt::join(machines, ", ")));
  return cells;
}

}  // namespace

Status tune_from_results(const TuneOptions& options, const OutputOptions& output, const Context& context) {
  if (options.output.empty()) return wrong_argument("--from needs -o, the file for the table");
  if (!options.workload.empty()) return wrong_argument("--from and --workload do not go together");
  TUTTI_TRY_ASSIGN(ReadResults results, read_results(options.from, options.store, context.environment));
  const std::string peer = options.peer == TuneOptions().peer ? "" : options.peer;
  TUTTI_TRY(keep_peer(results, peer, kOwnPeer));
  TUTTI_TRY_ASSIGN(const std::vector<MachineCell> cells, read_cells_of_machine(options, results, context));
  const auto named = std::find_if(results.timings.begin(), results.timings.end(),
                                  [](const tune::Timing& timing) { return !timing.peer.empty(); });
  std::vector<DecisionTable> tables =
      tune::tables_of(cells, named == results.timings.end() ? std::string_view("unnamed") : named->peer, {});
  DecisionTable& table = tables.front();
  if (table.sections.empty()) return wrong_argument("the results have no way that a table can ask for");
  table.set_measured_peer(table.peer);
  table.name = table.machine.empty() ? options.from : table.machine;
  table.about = fmt::format("made by tutti tune --from {}", options.from);
  table.made = now_in_words();
  const std::string text = write_table(table);
  // Results may have numbers that tables do not.
  if (const Result<DecisionTable> again = read_table(text, options.output); !again.ok())
    return again.status().with_context("the table cannot be written");
  TUTTI_TRY(replace_file(options.output, text));
  TUTTI_TRY(write_output(narrowed(table_of_ranges(table), output, context), output, context));
  const tune::RegretSummary regret =
      tune::summarize(tune::take_all({.name = {}, .tables = tables, .always = {}}, cells));
  context.error << fmt::format("in {} it has a mean regret of {:.2g} %, at most {:.2g} %\ntable: {}\n",
                               counted(regret.judged, "cell"), regret.mean * 100, regret.greatest * 100,
                               options.output);
  return {};
}

}  // namespace tutti::cli
