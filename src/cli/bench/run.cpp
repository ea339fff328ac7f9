// SPDX-License-Identifier: Apache-2.0
// `tutti run`: runs a sweep and keeps what it gives.
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <span>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "bench/axes/alignment.hpp"
#include "bench/views/views.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/bench/communicators.hpp"
#include "cli/bench/kept_run.hpp"
#include "cli/bench/output/measured_figure.hpp"
#include "cli/bench/output/progress.hpp"
#include "cli/bench/output/row_output.hpp"
#include "cli/bench/sweep/command_options.hpp"
#include "cli/bench/sweep/peer_options.hpp"
#include "cli/bench/sweep/sweep_options.hpp"
#include "cli/interrupt.hpp"

namespace tutti::cli {

namespace {

using harness::Row;

struct RunArguments {
  SweepOptions sweep;
  OutputOptions output;
  Keeping keeping;
  std::string baseline;
  std::string figure;
  bool is_full = false;
  std::string parts;
  const CLI::App* app = nullptr;  // knows which options were said
};

// What can be refused before anything is started.
Status check(const RunArguments& options, const Context& context) {
  const auto& arguments = context.arguments;
  const bool has_mark = std::find(arguments.begin(), arguments.end(), "--") != arguments.end();
  if (has_mark && options.sweep.command.empty())
    return {Code::invalid_argument, "no program comes behind --; tutti run -- PROGRAM sweeps one"};
  if (!has_mark && !options.sweep.command.empty()) {
    const std::string& word = options.sweep.command.front();
    return {Code::invalid_argument,
            fmt::format("{} was not expected here; a program to sweep comes behind --: tutti run -- {}",
                        in_quotes(word), printable(word))};
  }
  TUTTI_TRY(check_figure(options.figure, options.output));
  return check_output(options.output);
}

// Nothing of a run that is complete.
Status run_all(SweepPlan& plan, KeptRun& kept, Progress& progress, const Context& context) {
  const auto on_rows = [&](std::span<const Row> rows) -> Status {
    TUTTI_TRY(kept.add(rows));
    progress.note(rows);
    return {};
  };
  if (kept.is_complete) return {};
  if (plan.command) {
    plan.command->is_interrupted = Interrupt::has_come;
    harness::CommandRunner runner(*plan.command, context.environment.block());
    return runner.run(plan.sweep.bench, plan.groups, std::vector<Row>(kept.rows), on_rows);
  }
  plan.runner.measure.is_interrupted = Interrupt::has_come;
  harness::Runner runner(plan.runner, plan.programs, context.environment.block());
  return runner.run(plan.sweep.bench, plan.groups, kept.done,
                    [&](const Row& row) { return on_rows(std::span(&row, 1)); });
}

// A word without a dash before it is a bench, where no program is swept.
void take_bench(RunArguments& options, const Context& context) {
  const auto& arguments = context.arguments;
  const bool has_mark = std::find(arguments.begin(), arguments.end(), "--") != arguments.end();
  SweepOptions& sweep = options.sweep;
  if (has_mark || sweep.command.empty() || !sweep.bench.empty()) return;
  sweep.bench = sweep.command.front();
  sweep.command.erase(sweep.command.begin());
}

// Programs with benches of their own have no peers to set side by side, and may have one of that name.
bool is_communicators(const RunArguments& options, const BenchWorld& world) {
  return world.algorithms_of && same_name(options.sweep.bench, kCommunicators);
}

// RunArguments that only communicators has, and those that only the others have.
Status check_bench(const RunArguments& options, const BenchWorld& world) {
  const bool compares = is_communicators(options, world);
  if (compares && options.output.as_nccl_tests)
    return {Code::invalid_argument, "communicators has no layout of nccl-tests"};
  if (!compares && (options.sweep.quick || !options.baseline.empty()))
    return {Code::invalid_argument,
            fmt::format("{} is for the bench communicators", options.sweep.quick ? "--quick" : "--baseline")};
  return {};
}

const MilestoneBench* find_milestone(const RunArguments& options, const BenchWorld& world) {
  for (const MilestoneBench& each : world.milestones)
    if (same_name(options.sweep.bench, each.name)) return &each;
  return nullptr;
}

// A milestone has its own configurations, so it takes no option that says what is measured.
Exit run_as_milestone(const MilestoneBench& milestone, const RunArguments& options, const BenchWorld& world,
                      const Context& context) {
  const auto refuse = [&](std::string words) { return failed(context, "run", wrong_argument(std::move(words))); };
  constexpr std::array<std::string_view, 6> kTaken = {"bench", "output", "full", "part", "help", "command"};
  for (const CLI::Option* option : options.app->get_options()) {
    const std::string name = option->get_single_name();
    if (option->count() == 0 || std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end()) continue;
    return refuse(fmt::format("{} has configurations of its own: it takes -o, --full and --part, and no {}{}",
                              milestone.name, name.size() > 1 ? "--" : "-", name));
  }
  if (!options.sweep.command.empty())
    return refuse(
        fmt::format("{} was not expected behind {}", in_quotes(options.sweep.command.front()), milestone.name));
  MilestoneRequest request{.folder = options.output.path, .is_full = options.is_full};
  if (!options.parts.empty())
    for (const std::string_view part : split(options.parts, ',')) request.parts.emplace_back(part);
  return milestone.run(request, world, context);
}

CompareOptions as_comparison(const RunArguments& options) {
  return {.sweep = options.sweep,
          .output = options.output,
          .keeping = options.keeping,
          .fail_on = "",
          .view = "best",
          .baseline = options.baseline,
          .figure = options.figure};
}

// Shows what is there.
Status show(const RunArguments& options, const SweepPlan& plan, KeptRun& kept, const Context& context) {
  // Of a sweep that was interrupted not all that is aligned may be there.
  const Result<std::vector<Row>> shown = harness::aligned(kept.rows, plan.alignments);
  const std::vector<Row>& rows = shown.ok() ? *shown : kept.rows;
  Status written = write_output(rendered_rows(rows, options.output, context), options.output, context);
  if (kept.store) context.error << fmt::format("run {} in {}\n", kept.run, kept.path);
  if (!written.ok() || options.figure.empty()) return written;
  return write_figure(options.figure, rows, description_of(kept, run_of(plan, context)), Quantity::time, context);
}

// Whether simulated fabrics could do nothing at all. (What processes refuse, like a type that a library has not got, is
// an answer.)
bool could_do_nothing(const SweepPlan& plan, const std::vector<Row>& rows) {
  const auto is_skipped = [](const Row& row) { return row.outcome == harness::Outcome::skipped; };
  return are_all_reckoned(plan.programs) && !rows.empty() && std::all_of(rows.begin(), rows.end(), is_skipped);
}

// Tells how it came out.
Exit conclude(const SweepPlan& plan, const Progress& progress, bool is_interrupted, bool is_kept,
              const Context& context) {
  if (is_interrupted) {
    context.error << fmt::format("interrupted: {} of {} {} done{}\n", progress.num_done(),
                                 counted(plan.num_cases(), "case"), are(progress.num_done()),
                                 is_kept ? " and kept; to continue, repeat the command with --resume" : "");
    return Interrupt::exit();
  }
  if (progress.num_bad() == 0) return Exit::done;
  context.error << fmt::format("{} of {} {} wrong or could not be measured\n", progress.num_bad(),
                               counted(plan.num_cases(), "case"), are(progress.num_bad()));
  return Exit::found_wrong;
}

Exit run(RunArguments options, const BenchWorld& world, const Context& context) {
  take_bench(options, context);
  if (const MilestoneBench* const milestone = find_milestone(options, world); milestone != nullptr)
    return run_as_milestone(*milestone, options, world, context);
  if (options.is_full || !options.parts.empty())
    return failed(context, "run",
                  wrong_argument(fmt::format("{} is for milestones; 'tutti list benches' has them",
                                             options.is_full ? "--full" : "--part")));
  if (const Status fit = check_bench(options, world); !fit.ok()) return failed(context, "run", fit);
  if (is_communicators(options, world)) return run_communicators(as_comparison(options), world, context);
  if (const Status fit = check(options, context); !fit.ok()) return failed(context, "run", fit);
  Result<SweepPlan> plan = make_plan(options.sweep, world, context.environment);
  if (!plan.ok()) return failed(context, "run", plan.status());
  for (const std::string& warning : plan->warnings) context.error << warning << "\n";
  if (options.sweep.dry_run) {
    context.error << plan->announcement() << "\n";
    context.out << list_of(*plan);
    return Exit::done;
  }
  if (plan->command)
    if (const Status made = make_output_folder(*plan); !made.ok()) return failed(context, "run", made);
  Result<KeptRun> kept = keep_run(options.keeping, run_of(*plan, context), *plan, context);
  if (!kept.ok()) return failed(context, "run", kept.status());
  context.error << announcement_of(*plan, *kept) << "\n" << std::flush;

  const Interrupt interrupt;
  const auto num_bad = static_cast<std::size_t>(std::count_if(kept->rows.begin(), kept->rows.end(), is_bad));
  Progress progress(context, {.num_cases = plan->num_cases(),
                              .num_done = num_done(*plan, *kept),
                              .num_bad = num_bad,
                              .expected_seconds = plan->expected_seconds()});
  const Status ended = run_all(*plan, *kept, progress, context);
  progress.end();
  const bool is_interrupted = Interrupt::has_come();
  if (ended.ok() && !is_interrupted && kept->store) {
    const Status completed = kept->store->complete(kept->run);
    if (!completed.ok()) context.error << fmt::format("{} run: {}\n", context.program, completed.to_string());
  }
  if (const Status shown = show(options, *plan, *kept, context); !shown.ok()) return failed(context, "run", shown);
  if (!ended.ok()) return failed(context, "run", ended);
  if (!is_interrupted && could_do_nothing(*plan, kept->rows)) {
    context.error << "nothing could be done: " << kept->rows.front().note << "\n";
    return Exit::misused;
  }
  return conclude(*plan, progress, is_interrupted, kept->store.has_value(), context);
}

}  // namespace

Command run_command(const BenchWorld& world) {
  return {.name = "run",
          .summary = "Run a sweep of benchmarks, or of any program, over sizes and settings, and keep the results",
          .examples =
              "tutti run all_reduce --peer openmpi,mpich -a num_ranks=2 -a bytes=8:16M:x8\n"
              "tutti run --bench all_reduce --peer openmpi --env OMPI_MCA_coll_tuned_use_dynamic_rules=1 --env "
              "OMPI_MCA_coll_tuned_allreduce_algorithm=unset,1,3,4,6\n"
              "tutti run --bench all_gather --peer openmpi,mpich -a algorithm=default,all -a bytes=64K\n"
              "tutti run --peer tutti,openmpi --env tutti:BENCH_MEMORY=ordinary,symmetric -a bytes=64K:16M:x4\n"
              "tutti run --peer simulate:torus_2d:2x3,bandwidth=25GB/s -a algorithm=default,all -a bytes=16:96K:x2\n"
              "tutti run communicators --quick\n"
              "tutti run milestone-ccl -o results\n"
              "MILESTONE_FAST=1 tutti run milestone-ccl -o results\n"
              "tutti run --peer all -a bytes=1K,1M --format csv -o results.csv\n"
              "tutti run --sweep sweep.toml --resume\n"
              "tutti run --env NCCL_MIN_CTAS=32,64 --launches 7 -- ./all_reduce_perf -b 8 -e 128M -f 2 -g 8\n"
              "tutti run --launcher mpirun.openmpi -a num_ranks=2,4 -a size=8,1K -- ./osu_allreduce -m {size}:{size}\n"
              "tutti run --read regex:'took (?<time_ms>[0-9.]+) ms' -a threads=1,2,4 -- ./solve --threads {threads}",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<RunArguments>();
            options->app = &app;
            add_sweep_options(app, options->sweep, world);
            add_keeping_options(app, options->keeping);
            begin_group(app, "A program instead of a bench");
            add_command_options(app, options->sweep);
            begin_group(app, "The bench communicators");
            app.add_flag("--quick", options->sweep.quick, "Of communicators: fewer sizes, and less time for each");
            app.add_option("--baseline", options->baseline, "Of communicators: whom the best is compared with")
                ->type_name("NAME");
            if (!world.milestones.empty()) {
              begin_group(app, "Milestones, which write a folder (-o)");
              app.add_flag("--full", options->is_full,
                           "Of a milestone: more cases and longer measurements than the short form");
              app.add_option("--part", options->parts, "Of a milestone: only these parts, with commas between")
                  ->type_name("PARTS");
            }
            begin_group(app, "What is kept and shown");
            app.add_option("--figure", options->figure, kFigureHelp)->type_name("FILE")->check(objection_to_file);
            add_row_output_options(app, options->output);
            return [options, &world](const Context& context) { return run(*options, world, context); };
          }};
}

}  // namespace tutti::cli
