// SPDX-License-Identifier: Apache-2.0
// `tutti list` and `tutti show`: the benches, peers, fabrics and runs that there are, and the rows of a run.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "bench/axes/algorithm_axis.hpp"
#include "bench/axes/alignment.hpp"
#include "bench/axes/declaration.hpp"
#include "bench/results/comparison.hpp"
#include "bench/views/views.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/bench/communicators.hpp"
#include "cli/bench/output/comparison_output.hpp"
#include "cli/bench/output/measured_figure.hpp"
#include "cli/bench/output/row_output.hpp"
#include "cli/bench/output/type_tables.hpp"
#include "cli/bench/run_pair.hpp"

namespace tutti::cli {

namespace {

std::string lists_of(const BenchWorld& world) {
  return fmt::format("benches, peers, algorithms, types, operators, {}and runs", world.fabrics ? "fabrics, " : "");
}

struct ListArguments {
  std::string what = "benches";
  std::string run = "last";
  std::string store;
  std::vector<std::string> align;
  std::string view = "rows";
  std::string figure;
  std::string baseline;  // of --view best; empty: the first
  OutputOptions output;
};

Table list_benches(const BenchWorld& world) {
  Table table({{"bench"}, {"ranks"}, {"axes", 100}});
  for (const Bench& bench : world.benches) {
    const harness::Declaration& declaration = bench.declaration();
    std::string ranks;
    for (const int each : declaration.num_ranks) ranks += fmt::format("{}{}", ranks.empty() ? "" : ",", each);
    std::string axes;
    for (const harness::Axis& axis : declaration.axes) {
      std::string values;
      for (const harness::Value& value : axis.values) values += (values.empty() ? "" : ",") + value.text();
      axes += fmt::format("{}{}={}", axes.empty() ? "" : "; ", axis.name, values);
    }
    table.add_row({declaration.name, ranks, axes.empty() ? Cell() : Cell(axes)});
  }
  for (const MilestoneBench& milestone : world.milestones)
    table.add_row(
        {milestone.name, "-", fmt::format("{}; parts: {}", milestone.about, fmt::join(milestone.parts, ", "))});
  if (world.algorithms_of)
    table.add_row(
        {std::string(kCommunicators), "2", "those of all_reduce; every algorithm of every peer side by side"});
  return table;
}

Table list_peers(const BenchWorld& world) {
  Table table({{"peer"}, {"here"}, {"about", 80}, {"package"}});
  for (const PeerSummary& peer : world.peers) {
    const Result<std::string> found = world.look_for(peer.name);
    table.add_row({peer.wants.empty() ? peer.name : fmt::format("{}:{}", peer.name, peer.wants), found.ok(),
                   found.ok() ? *found : std::string(found.status().message()),
                   peer.package.empty() ? Cell() : Cell(peer.package)});
  }
  return table;
}

Table list_algorithms(const BenchWorld& world) {
  Table table({{"peer"}, {"bench"}, {"algorithm"}, {"ranks_allowed"}, {"settings", 120}});
  if (!world.algorithms_of) return table;
  for (const PeerSummary& peer : world.peers)
    for (const Bench& bench : world.benches) {
      const std::string& name = bench.declaration().name;
      for (const harness::ForcedAlgorithm& algorithm : world.algorithms_of(peer.name, name)) {
        std::string settings;
        for (const harness::Setting& setting : algorithm.settings)
          settings += fmt::format("{}{}={}", settings.empty() ? "" : " ", setting.name, harness::shown(setting.value));
        table.add_row({peer.name, name, algorithm.name, std::string(name_of(algorithm.ranks)), settings});
      }
    }
  return table;
}

// The usual store is made by the first run that is kept; one that was named must be there.
Result<std::vector<harness::StoredRun>> runs_in(const std::string& path, bool is_usual) {
  std::error_code none;
  if (is_usual && !std::filesystem::exists(path, none)) return std::vector<harness::StoredRun>();
  Result<harness::Store> store = harness::Store::open_to_read(path);
  if (!store.ok()) return store.status();
  return store->runs();
}

Result<Table> list_runs(const ListArguments& options, const Context& context) {
  const Result<std::string> path = store_path_to_read(options.store, context.environment);
  if (!path.ok()) return path.status();
  const Result<std::vector<harness::StoredRun>> runs = runs_in(*path, options.store.empty());
  if (!runs.ok()) return runs.status();
  if (runs->empty()) context.error << fmt::format("no runs yet; '{} run' keeps the first\n", context.program);
  Table table({{"run"},
               {"name"},
               {"begun"},
               {.name = "bench", .yields = 1},
               {.name = "rows", .yields = 2},
               {.name = "complete", .stands_once = true, .yields = 3},
               {.name = "machine", .wrap_at = 40, .stands_once = true, .yields = 4},
               {"command", 44},
               {.name = "note", .wrap_at = 40, .is_note = true}});
  for (const harness::StoredRun& run : *runs)
    table.add_row({run.id, run.name.empty() ? Cell() : Cell(run.name), run.begun, run.bench,
                   static_cast<std::int64_t>(run.num_rows), run.is_complete, run.machine, run.command,
                   run.note.empty() ? Cell() : Cell(run.note)});
  return table;
}

Exit list(const ListArguments& options, const BenchWorld& world, const Context& context) {
  std::optional<Table> table;
  if (same_name(options.what, "benches")) table = list_benches(world);
  if (same_name(options.what, "peers")) table = list_peers(world);
  if (same_name(options.what, "algorithms")) table = list_algorithms(world);
  if (same_name(options.what, "fabrics") && world.fabrics) table = world.fabrics();
  if (same_name(options.what, "types")) table = types_table();
  if (same_name(options.what, "operators")) table = operators_table();
  if (same_name(options.what, "runs")) {
    Result<Table> runs = list_runs(options, context);
    if (!runs.ok()) return failed(context, "list", runs.status());
    table = std::move(*runs);
  }
  if (!table)
    return failed(context, "list",
                  {Code::invalid_argument, fmt::format("there is no list of {}; there is one of {}",
                                                       in_quotes(options.what), lists_of(world))});
  const std::string text = same_name(options.what, "runs") ? narrowed(*table, options.output, context)
                                                           : render(*table, options.output.format);
  const Status written = write_output(text, options.output, context);
  return written.ok() ? Exit::done : failed(context, "list", written);
}

Status check_view(const ListArguments& options) {
  const bool is_best = same_name(options.view, "best");
  const bool is_bandwidth = same_name(options.view, "bandwidth");
  if (!is_best && !is_bandwidth && !same_name(options.view, "rows"))
    return {Code::invalid_argument,
            fmt::format("--view is {}; it takes rows, best or bandwidth", in_quotes(options.view))};
  if (is_bandwidth && options.figure.empty())
    return {Code::invalid_argument, "--view bandwidth is for --figure; rows have bandwidths in any case"};
  if (!is_best && !options.baseline.empty()) return {Code::invalid_argument, "--baseline is for --view best"};
  if (is_best && options.output.as_nccl_tests)
    return {Code::invalid_argument, "--view best has no layout of nccl-tests; --format takes table, csv, json or md"};
  return check_figure(options.figure, options.output);
}

Status show_best(const ListArguments& options, const harness::Comparison& comparison, const std::string& kept_baseline,
                 const Context& context) {
  const std::vector<std::string>& competitors = comparison.competitors;
  if (competitors.size() < 2)
    return {Code::invalid_argument,
            fmt::format("--view best is for several that compete; run {} has {}", options.run,
                        competitors.empty() ? "no rows" : "only " + in_quotes(competitors.front()))};
  // Of a run that was interrupted, who is the baseline may have no row.
  const bool is_kept = std::find(competitors.begin(), competitors.end(), kept_baseline) != competitors.end();
  const std::string& wanted = options.baseline.empty() && is_kept ? kept_baseline : options.baseline;
  const Result<std::size_t> baseline = baseline_of(competitors, wanted);
  if (!baseline.ok()) return baseline.status();
  return write_best(comparison, *baseline, options.output, context);
}

Exit show(const ListArguments& options, const BenchWorld& world, const Context& context) {
  if (const Status fits = check_view(options); !fits.ok()) return failed(context, "show", fits);
  const Result<std::string> path = store_path_to_read(options.store, context.environment);
  if (!path.ok()) return failed(context, "show", path.status());
  Result<harness::Store> store = harness::Store::open_to_read(*path);
  if (!store.ok()) return failed(context, "show", store.status());
  const Result<harness::StoredRun> run = store->find(options.run);
  if (!run.ok()) return failed(context, "show", run.status());
  const Result<std::vector<harness::Row>> rows = store->rows_of(run->id);
  if (!rows.ok()) return failed(context, "show", rows.status());
  context.error << fmt::format("run {}{}, {}{}: {}\n{}\n", run->id, run->name.empty() ? "" : " (" + run->name + ")",
                               run->begun, run->is_complete ? "" : ", not complete", printable(run->command),
                               printable(run->machine));
  if (!run->note.empty()) context.error << printable(run->note) << "\n";
  std::vector<harness::Alignment> alignments;
  for (const std::string& text : options.align) {
    Result<harness::Alignment> alignment = harness::parse_alignment(text);
    if (!alignment.ok()) return failed(context, "show", alignment.status());
    alignments.push_back(std::move(*alignment));
  }
  const Result<std::vector<harness::Row>> shown = harness::aligned(*rows, alignments);
  if (!shown.ok()) return failed(context, "show", shown.status());
  Status written;
  if (same_name(options.view, "best")) {
    const bool is_paired = run->is_paired && !harness::has_axis(alignments, *rows);
    written = show_best(
        options,
        harness::Comparison::of_peers(harness::join_launches(*shown), is_paired, is_by_algorithm(run->bench, world)),
        run->baseline, context);
  } else {
    written = write_output(rendered_rows(*shown, options.output, context), options.output, context);
  }
  if (written.ok())
    written = write_figure(options.figure, *shown, *run,
                           same_name(options.view, "bandwidth") ? Quantity::bus_bandwidth : Quantity::time, context);
  return written.ok() ? Exit::done : failed(context, "show", written);
}

}  // namespace

Command list_command(const BenchWorld& world) {
  return {.name = "list",
          .summary =
              "List the benches, the peers, the settings that force each of their algorithms, the types and operators, "
              "the fabrics, or the kept runs",
          .examples =
              "tutti list benches\ntutti list peers\ntutti list algorithms\ntutti list types\ntutti list fabrics\n"
              "tutti list runs --format csv",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<ListArguments>();
            app.add_option("what", options->what, "benches, peers, algorithms, types, operators, fabrics or runs")
                ->type_name("benches|peers|algorithms|types|operators|fabrics|runs")
                ->capture_default_str();
            app.add_option("--store", options->store, "The file that keeps results")->type_name("FILE");
            add_output_options(app, options->output);
            add_wide_option(app, options->output);
            return [options, &world](const Context& context) { return list(*options, world, context); };
          }};
}

Command show_command(const BenchWorld& world) {
  return {
      .name = "show",
      .summary = "Show the results of a run that was kept",
      .examples =
          "tutti show\ntutti show 12\ntutti show last --format csv -o results.csv\ntutti show 12 --format nccl-tests\n"
          "tutti show 12 --view best --baseline openmpi\ntutti show 12 --figure times.svg",
      .define = [&world](CLI::App& app) -> Run {
        const auto options = std::make_shared<ListArguments>();
        app.add_option("run", options->run, "A run by its number or name, or last")
            ->type_name("RUN")
            ->capture_default_str();
        app.add_option("--store", options->store, "The file that keeps results")->type_name("FILE");
        app.add_option("--align", options->align, "Knobs of different peers as one column: cus=nccl:MAX_CTAS,mine:sms")
            ->type_name("COLUMN=KNOBS")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false);
        app.add_option("--view", options->view,
                       "The rows, or one line a case with the best of all peers and settings; or the rows, and bus "
                       "bandwidths instead of times in --figure")
            ->type_name("rows|best|bandwidth")
            ->capture_default_str();
        app.add_option("--baseline", options->baseline,
                       "The competitor that --view best compares with, instead of the run's own baseline")
            ->type_name("NAME");
        app.add_option("--figure", options->figure, kFigureHelp)->type_name("FILE")->check(objection_to_file);
        add_row_output_options(app, options->output);
        return [options, &world](const Context& context) { return show(*options, world, context); };
      }};
}

}  // namespace tutti::cli
