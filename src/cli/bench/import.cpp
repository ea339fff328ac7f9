// SPDX-License-Identifier: Apache-2.0
// `tutti import`: outputs that programs have written before, kept as the rows of a run.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "bench/outputs/evidence.hpp"
#include "bench/outputs/rows.hpp"
#include "bench/process/command.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/bench/output/progress.hpp"
#include "cli/bench/output/row_output.hpp"
#include "cli/bench/run_label.hpp"
#include "cli/bench/sweep/command_options.hpp"
#include "cli/number.hpp"

namespace tutti::cli {

namespace {

using harness::Row;

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::string_view kStandardInput = "-";
constexpr const char* kUnknownMachine = "unknown machine (imported without --machine)";

struct ImportArguments {
  std::vector<std::string> files;
  std::string read = "auto";
  std::string time;
  std::string name = "command";
  std::string bench;
  std::string num_ranks;
  std::vector<std::string> env;
  std::string machine;
  RunLabel label;
  std::string store;
  bool no_store = false;
  OutputOptions output;
};

Result<std::string> text_of(const std::string& file) {
  if (file != kStandardInput) return read_file(file, kMostBytes);
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  if (text.size() > kMostBytes) return Status(Code::invalid_argument, "standard input has more than 256 MiB");
  return text;
}

// "/data/osu_allreduce.2.txt" → "osu_allreduce".
std::string stem_of(const std::string& file) {
  if (file == kStandardInput) return "stdin";
  const std::string name = harness::name_of_program(file);
  const std::size_t dot = name.find('.', 1);
  return printable(name.substr(0, dot));
}

// What is known of all rows before a file is read.
Result<Row> frame_of(const ImportArguments& options) {
  TUTTI_TRY(check_name(options.name));
  Row frame;
  frame.peer = options.name;
  frame.num_ranks = 0;
  if (!options.num_ranks.empty()) {
    const auto number = read_number<std::uint32_t>(options.num_ranks, 1, 1U << 24);
    if (!number)
      return Status(Code::invalid_argument,
                    fmt::format("--num-ranks is {}; it takes a number from 1 on", in_quotes(options.num_ranks)));
    frame.num_ranks = static_cast<int>(*number);
  }
  for (const std::string& text : options.env) {
    const Result<harness::EnvironmentAxis> axis = harness::parse_env(text);
    if (!axis.ok()) return axis.status().with_context("--env");
    if (axis->points.size() != 1 || !axis->peer.empty())
      return Status(
          Code::invalid_argument,
          fmt::format("--env is {}; the outputs were written with one value of it: NAME=VALUE", in_quotes(text)));
    const auto same = [&](const harness::Setting& each) { return each.name == axis->names[0]; };
    if (std::any_of(frame.settings.begin(), frame.settings.end(), same))
      return Status(Code::invalid_argument, fmt::format("--env names {} twice", axis->names[0]));
    frame.settings.push_back({axis->names[0], axis->points[0][0]});
  }
  return frame;
}

// The rows of all files. Rows that several files have are launches of the same program.
Result<std::vector<Row>> rows_of_files(const ImportArguments& options) {
  if (options.files.empty()) return Status(Code::invalid_argument, "no file is named; - is standard input");
  const Result<harness::ReadAs> read = harness::parse_read_as(options.read, options.time);
  if (!read.ok()) return read.status();
  if (read->read == nullptr)
    return Status(Code::invalid_argument, "--read wall is for programs that are run; a file has no wall time");
  const Result<Row> frame = frame_of(options);
  if (!frame.ok()) return frame.status();
  std::vector<Row> rows;
  std::set<std::string> keys;
  for (const std::string& file : options.files) {
    const Result<std::string> text = text_of(file);
    if (!text.ok()) return text.status();
    const harness::Output output = read->read(*text);
    if (!output.is_recognised())
      return Status(Code::invalid_argument,
                    fmt::format("nothing in {} is recognised; --read says what it is", in_quotes(file)));
    Row of_file = *frame;
    of_file.bench = !options.bench.empty() ? options.bench : !output.program.empty() ? output.program : stem_of(file);
    of_file.evidence = harness::evidence_in(*text, of_file.settings);
    for (Row& row : harness::rows_of(output, of_file, "")) {
      while (!keys.insert(harness::key_of(row)).second) ++row.launch;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Status keep(const std::vector<Row>& rows, const ImportArguments& options, const Context& context) {
  const Result<std::string> path = store_path(options.store, context.environment);
  if (!path.ok()) return path.status();
  Result<harness::Store> store = harness::Store::open(*path);
  if (!store.ok()) return store.status();
  harness::StoredRun imported = new_run(rows.front().bench, "import", context);
  set_label(options.label, imported);
  // Not the one that imports.
  imported.machine = options.machine.empty() ? kUnknownMachine : options.machine;
  const Result<std::int64_t> run = store->begin(imported);
  if (!run.ok()) return run.status();
  TUTTI_TRY(store->add(*run, rows));
  TUTTI_TRY(store->complete(*run));
  context.error << fmt::format("run {} in {}\n", *run, *path);
  return {};
}

Exit import(const ImportArguments& options, const Context& context) {
  if (const Status ready = check_output(options.output); !ready.ok()) return failed(context, "import", ready);
  const Result<std::vector<Row>> rows = rows_of_files(options);
  if (!rows.ok()) return failed(context, "import", rows.status());
  if (!options.no_store)
    if (const Status kept = keep(*rows, options, context); !kept.ok()) return failed(context, "import", kept);
  const std::string text = rendered_rows(*rows, options.output, context);
  if (const Status written = write_output(text, options.output, context); !written.ok())
    return failed(context, "import", written);
  const auto num_bad =
      std::count_if(rows->begin(), rows->end(), [](const Row& row) { return row.outcome != harness::Outcome::ok; });
  if (num_bad > 0)
    context.error << fmt::format("{} of {} {} wrong or {} no time\n", num_bad, counted(rows->size(), "row"),
                                 are(num_bad), num_bad == 1 ? "has" : "have");
  return num_bad == 0 ? Exit::done : Exit::found_wrong;
}

}  // namespace

Command import_command() {
  return {.name = "import",
          .summary = "Import saved output of nccl-tests, OSU, Intel MPI Benchmarks or other programs as results",
          .examples =
              "tutti import all_reduce.txt --env NCCL_MIN_CTAS=32\n"
              "tutti import --read osu --num-ranks 16 --machine 'cluster A, 2 nodes' run1.txt run2.txt run3.txt\n"
              "ssh host ./all_reduce_perf -b 8 -e 128M -f 2 | tutti import - --name host",
          .define = [](CLI::App& app) -> Run {
            const auto options = std::make_shared<ImportArguments>();
            app.add_option("files", options->files,
                           "Files of output, or - for standard input; a row that is in several files counts as several "
                           "launches of one program")
                ->type_name("FILE");
            add_reading_options(app, options->read, options->time, options->name);
            app.add_option("--bench", options->bench, "What was run [what the output says, or the file's name]")
                ->type_name("NAME");
            app.add_option("-n,--num-ranks", options->num_ranks,
                           "How many ranks there were, where the output does not say")
                ->type_name("N");
            app.add_option("--env", options->env, "A variable that the program ran with")
                ->type_name("VARIABLE=VALUE")
                ->expected(1)
                ->take_all()
                ->allow_extra_args(false);
            app.add_option("--machine", options->machine, "The machine of the runs, in words [unknown]")
                ->type_name("TEXT")
                ->check([](const std::string& text) { return std::string(text.empty() ? "'' names no machine" : ""); });
            CLI::Option* store = app.add_option("--store", options->store, "The file that keeps results");
            store->type_name("FILE");
            app.add_flag("--no-store", options->no_store, "Keep nothing, only show")->excludes(store);
            add_label_options(app, options->label);
            add_row_output_options(app, options->output);
            return [options](const Context& context) { return import(*options, context); };
          }};
}

}  // namespace tutti::cli
