// SPDX-License-Identifier: Apache-2.0
// `tutti report`: kept runs and decision tables as one page that is passed on.
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/output.hpp"
#include "cli/report/report_commands.hpp"
#include "cli/report/report_page.hpp"
#include "table/table_file.hpp"

namespace tutti::cli {

namespace {

struct ReportArguments {
  std::vector<std::string> named;
  std::string store;
  std::string ignored;
  bool compares = false;
  OutputOptions output;
};

// Of a decision table; everything else is a run.
bool is_file(const std::string& name) { return name.ends_with(".toml") || name.find('/') != name.npos; }

Status check(const ReportArguments& options) {
  const auto file = std::find_if(options.named.begin(), options.named.end(), is_file);
  if (options.compares && file != options.named.end())
    return wrong_argument(fmt::format("--compare takes two runs, and {} is a file", in_quotes(*file)));
  if (options.compares && options.named.size() != 2)
    return wrong_argument(fmt::format("--compare takes two runs; {} {} named", counted(options.named.size(), "run"),
                                      are(options.named.size())));
  if (!options.compares && !options.ignored.empty()) return wrong_argument("--ignore is for --compare");
  return check_output(options.output);
}

Result<std::vector<RunWithRows>> read_runs(const std::vector<std::string>& names, const ReportArguments& options,
                                           const Context& context) {
  if (names.empty()) return std::vector<RunWithRows>();
  const Result<std::string> path = store_path_to_read(options.store, context.environment);
  if (!path.ok()) return path.status();
  Result<harness::Store> store = harness::Store::open_to_read(*path);
  if (!store.ok()) return store.status();
  std::vector<RunWithRows> runs;
  for (const std::string& name : names) {
    Result<RunWithRows> run = read_run(*store, name);
    if (!run.ok()) return run.status();
    runs.push_back(std::move(*run));
  }
  return runs;
}

Result<std::vector<DecisionTable>> read_tables(const std::vector<std::string>& paths) {
  std::vector<DecisionTable> tables;
  for (const std::string& path : paths) {
    TUTTI_TRY_ASSIGN(const std::string text, read_file(path, kMostTableBytes));
    TUTTI_TRY_ASSIGN(DecisionTable table, read_table(text, path));
    tables.push_back(std::move(table));
  }
  return tables;
}

Result<std::string> page_for(const ReportArguments& options, const BenchWorld& world, const Context& context) {
  std::vector<std::string> names = options.named;
  if (names.empty()) names.emplace_back("last");
  const auto files = std::stable_partition(names.begin(), names.end(), [](const auto& each) { return !is_file(each); });
  TUTTI_TRY_ASSIGN(const std::vector<DecisionTable> tables, read_tables({files, names.end()}));
  TUTTI_TRY_ASSIGN(std::vector<RunWithRows> runs, read_runs({names.begin(), files}, options, context));
  if (!options.compares) return page_of_all(runs, tables, world);
  return page_of_change({std::move(runs[0]), std::move(runs[1])}, options.ignored, world);
}

Exit write_report(const ReportArguments& options, const BenchWorld& world, const Context& context) {
  const auto refuse = [&](const Status& status) { return failed(context, "report", status); };
  if (const Status right = check(options); !right.ok()) return refuse(right);
  const Result<std::string> page = page_for(options, world, context);
  if (!page.ok()) return refuse(page.status());
  if (const Status written = write_output(*page, options.output, context); !written.ok()) return refuse(written);
  context.error << fmt::format(
      "{}: {} KB; any browser shows it{}\n", printable(options.output.path), (page->size() + 1023) / 1024,
      report::has_live_charts() ? "" : ". Its charts are pictures: this build has no Chart.js (libjs-chart.js)");
  return Exit::done;
}

}  // namespace

Command report_command(const BenchWorld& world) {
  return {.name = "report",
          .summary =
              "Write kept runs and decision tables as one page: the answer in words, charts to zoom into, tables to "
              "sort and filter",
          .examples =
              "tutti report\ntutti report 12 -o all_reduce.html\ntutti report 12 13 14\n"
              "tutti report before after --compare -o change.html\ntutti report my.toml -o table.html",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<ReportArguments>();
            options->output.path = "report.html";
            app.add_option("run", options->named,
                           "Runs by number or name, or last; decision tables by their files, such as my.toml [last]")
                ->type_name("RUN");
            app.add_option("--store", options->store, "The file that keeps results")->type_name("FILE");
            app.add_flag("--compare", options->compares,
                         "Begin with what changed from the first run to the second, with verdicts");
            app.add_option("--ignore", options->ignored,
                           "With --compare: match cases without this variable or axis [the only one that differs]")
                ->type_name("NAME");
            app.add_option("-o,--output", options->output.path, "The file to write")
                ->type_name("FILE")
                ->check(objection_to_file)
                ->capture_default_str();
            return [options, &world](const Context& context) { return write_report(*options, world, context); };
          }};
}

}  // namespace tutti::cli
