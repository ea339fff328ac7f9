// SPDX-License-Identifier: Apache-2.0
// `tutti report`: kept runs as one page that is passed on.
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/output.hpp"
#include "cli/report/report_commands.hpp"
#include "cli/report/report_page.hpp"

namespace tutti::cli {

namespace {

struct ReportArguments {
  std::vector<std::string> runs;
  std::string store;
  std::string ignored;
  bool compares = false;
  OutputOptions output;
};

Status check(const ReportArguments& options) {
  if (options.compares && options.runs.size() != 2)
    return wrong_argument(fmt::format("--compare takes two runs; {} {} named", counted(options.runs.size(), "run"),
                                      are(options.runs.size())));
  if (!options.compares && !options.ignored.empty()) return wrong_argument("--ignore is for --compare");
  return check_output(options.output);
}

Result<std::vector<RunWithRows>> read_runs_of(const ReportArguments& options, const Context& context) {
  const Result<std::string> path = store_path_to_read(options.store, context.environment);
  if (!path.ok()) return path.status();
  Result<harness::Store> store = harness::Store::open_to_read(*path);
  if (!store.ok()) return store.status();
  std::vector<std::string> names = options.runs;
  if (names.empty()) names.emplace_back("last");
  std::vector<RunWithRows> runs;
  for (const std::string& name : names) {
    Result<RunWithRows> run = read_run(*store, name);
    if (!run.ok()) return run.status();
    runs.push_back(std::move(*run));
  }
  return runs;
}

Result<std::string> page_for(const ReportArguments& options, std::vector<RunWithRows> runs, const BenchWorld& world) {
  if (!options.compares) return page_of_runs(runs, world);
  return page_of_change({std::move(runs[0]), std::move(runs[1])}, options.ignored, world);
}

Exit write_report(const ReportArguments& options, const BenchWorld& world, const Context& context) {
  const auto refuse = [&](const Status& status) { return failed(context, "report", status); };
  if (const Status right = check(options); !right.ok()) return refuse(right);
  Result<std::vector<RunWithRows>> runs = read_runs_of(options, context);
  if (!runs.ok()) return refuse(runs.status());
  const Result<std::string> page = page_for(options, std::move(*runs), world);
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
          .summary = "Write kept runs as one page: the answer in words, charts to zoom into, tables to sort and filter",
          .examples =
              "tutti report\ntutti report 12 -o all_reduce.html\ntutti report 12 13 14\n"
              "tutti report before after --compare -o change.html",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<ReportArguments>();
            options->output.path = "report.html";
            app.add_option("run", options->runs, "Runs by number or name, or last [last]")->type_name("RUN");
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
