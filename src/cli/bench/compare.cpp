// SPDX-License-Identifier: Apache-2.0
// `tutti compare`: peers or settings side by side, live, in turns; or two runs that are in the store.
#include "cli/bench/compare.hpp"

#include <algorithm>
#include <memory>
#include <ostream>
#include <span>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "bench/results/comparison.hpp"
#include "bench/results/comparison_by.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/bench/output/comparison_output.hpp"
#include "cli/bench/output/fail_on.hpp"
#include "cli/bench/output/measured_figure.hpp"
#include "cli/bench/output/progress.hpp"
#include "cli/bench/sweep/command_options.hpp"
#include "cli/bench/sweep/peer_options.hpp"
#include "cli/bench/sweep/sweep_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"

namespace tutti::cli {
namespace {

using harness::Comparison;
using harness::Row;

// `run communicators` compares too.
std::string_view name_of(const Context& context) {
  return context.arguments.empty() ? "compare" : std::string_view(context.arguments.front());
}

struct CompareArguments : CompareOptions {
  std::vector<std::string> words;  // runs, or a program
  std::string ignored;
};

// The bench communicators is about the others: the first of those is what it compares with.
Result<std::size_t> asked_baseline(const std::vector<std::string>& competitors, const CompareOptions& options) {
  const auto other = std::find_if(competitors.begin(), competitors.end(), [](const std::string& name) {
    return !name.starts_with("tutti") && !name.starts_with("simulate") && !name.starts_with("null");
  });
  if (options.baseline.empty() && options.prefers_others && other != competitors.end())
    return static_cast<std::size_t>(other - competitors.begin());
  return cli::baseline_of(competitors, options.baseline);
}

// Whose verdicts are counted: "openmpi against tutti".
std::string verdicts_of(const Comparison& comparison, std::size_t baseline) {
  const std::vector<std::string>& competitors = comparison.competitors;
  return fmt::format("{} against {}", competitors.size() == 2 ? competitors[1 - baseline] : "the others",
                     competitors[baseline]);
}

}  // namespace

Status check_options(const CompareOptions& options) {
  if (!same_name(options.view, "pairs") && !same_name(options.view, "best"))
    return wrong_argument(fmt::format("--view is {}; it takes pairs or best", in_quotes(options.view)));
  if (!options.baseline.empty() && !same_name(options.view, "best"))
    return wrong_argument("--baseline is for --view best; pairs are with the first of the peers");
  if (!options.by.empty() && same_name(options.view, "best"))
    return wrong_argument("--by is how each stands to the first; leave out --view best");
  TUTTI_TRY(check_figure(options.figure, options.output));
  return check_output(options.output);
}

Exit conclude(const Comparison& comparison, std::size_t baseline, const std::optional<FailOn>& fail_on,
              const CompareOptions& options, const Context& context) {
  const bool is_best = same_name(options.view, "best");
  const Status written = !options.by.empty() ? write_by(comparison, options.by, options.output, context)
                         : is_best           ? write_best(comparison, baseline, options.output, context)
                                             : write_pairs(comparison, options.output, context);
  if (!written.ok()) return failed(context, name_of(context), written);
  const std::string lacking = lacking_launches(comparison);
  if (!lacking.empty()) context.error << lacking << (is_best ? "; ties and intervals above are over rounds\n" : "\n");
  const Account account = account_of(comparison, baseline, fail_on);
  context.error << fmt::format("{}: {}\n", printable(verdicts_of(comparison, baseline)), account.in_words());
  const bool nothing = account.verdicts.empty();
  // Without a verdict the check cannot pass.
  const bool fails_gate = fail_on && (account.num_hits > 0 || account.num_unmatched > 0 || !lacking.empty());
  return nothing || account.num_bad > 0 || fails_gate ? Exit::found_wrong : Exit::done;
}

namespace {

// --- live

Status check_plan(const SweepPlan& plan) {
  const auto of_first_ranks = std::count_if(plan.groups.begin(), plan.groups.end(), [&](const harness::Group& group) {
    return group.num_ranks == plan.groups.front().num_ranks;
  });
  const harness::Group& first = plan.groups.front();
  const bool has_others = std::any_of(plan.groups.begin(), plan.groups.end(),
                                      [&](const harness::Group& group) { return group.label != first.label; });
  if (of_first_ranks < 2 && has_others)
    return wrong_argument(fmt::format("{} has {}, and none of the others; -a num_ranks says how many all have",
                                      first.label, counted(first.num_ranks, "rank")));
  if (of_first_ranks < 2)
    return wrong_argument("there is only one to compare; --peer a,b or --env NAME=a,b gives more");
  return {};
}

// What a plan's comparison will be of, before anything has been measured.
Comparison outlook_of(const SweepPlan& plan) {
  std::vector<Row> rows;
  for (const harness::Group& group : plan.groups)
    for (const harness::Case& each : group.cases) {
      Row& row = rows.emplace_back();
      row.bench = plan.sweep.bench;
      row.peer = group.label;
      row.num_ranks = group.num_ranks;
      row.settings = group.settings;
      row.point = each.point;
    }
  Result<std::vector<Row>> shown = harness::aligned(rows, plan.alignments);
  return Comparison::of_peers(shown.ok() ? *shown : rows, true, !plan.sweep.algorithms.empty());
}

// Everything that was asked for, looked up and checked: nothing has been started.
struct Asked {
  SweepPlan plan;
  std::optional<FailOn> fail_on;
  std::string baseline;  // a competitor
};

Result<Asked> check(const CompareOptions& options, const BenchWorld& world, const Environment& environment) {
  TUTTI_TRY(check_options(options));
  SweepOptions sweep = options.sweep;
  if (sweep.launches.empty()) sweep.launches = "8";
  Result<SweepPlan> plan = make_plan(sweep, world, environment);
  if (!plan.ok()) return plan.status();
  const Result<std::optional<FailOn>> fail_on = read_fail_on(options.fail_on);
  if (!fail_on.ok()) return fail_on.status();
  TUTTI_TRY(check_plan(*plan));
  const bool is_judged =
      are_all_reckoned(plan->programs) || plan->runner.launches >= static_cast<int>(harness::kLeastLaunches);
  if (*fail_on && !is_judged)
    return wrong_argument(fmt::format("--fail-on needs verdicts, which need {} launches or more; --launches is {}",
                                      harness::kLeastLaunches, plan->runner.launches));
  // What all launches together have is what one would have.
  plan->runner.measure.budget.seconds /= plan->runner.launches;
  const Comparison outlook = outlook_of(*plan);
  const Result<std::size_t> baseline = asked_baseline(outlook.competitors, options);
  if (!baseline.ok()) return baseline.status();
  if (!options.by.empty())
    if (const Result<Table> by = table_by(outlook, options.by); !by.ok()) return by.status();
  return Asked{.plan = std::move(*plan), .fail_on = *fail_on, .baseline = outlook.competitors[*baseline]};
}

// How the store knows it.
harness::StoredRun paired_run_of(const SweepPlan& plan, const std::string& baseline, const Context& context) {
  harness::StoredRun run = run_of(plan, context);
  run.is_paired = true;
  run.sweep += ", side by side";
  run.baseline = baseline;
  return run;
}

// All that is planned and not there yet, or what an interrupt leaves of it.
Status measure(SweepPlan& plan, KeptRun& kept, const Context& context) {
  if (kept.is_complete) return {};
  const auto num_bad = static_cast<std::size_t>(std::count_if(kept.rows.begin(), kept.rows.end(), is_bad));
  Progress progress(context, {.num_cases = plan.num_cases(),
                              .num_done = num_done(plan, kept),
                              .num_bad = num_bad,
                              .expected_seconds = plan.expected_seconds()});
  const auto on_rows = [&](std::span<const Row> rows) -> Status {
    TUTTI_TRY(kept.replace(rows, plan));
    // A competitor's rows stand together.
    for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
      while (end < rows.size() && rows[end].peer == rows[first].peer && rows[end].settings == rows[first].settings)
        ++end;
      progress.note(rows.subspan(first, end - first));
    }
    return {};
  };
  if (plan.command) {
    plan.command->is_interrupted = Interrupt::has_come;
    plan.command->seed = plan.runner.seed;
    harness::CommandRunner runner(*plan.command, context.environment.block());
    return runner.compare(plan.sweep.bench, plan.groups, std::vector<Row>(kept.rows), on_rows);
  }
  plan.runner.measure.is_interrupted = Interrupt::has_come;
  const auto launches = static_cast<std::uint64_t>(plan.runner.launches);
  harness::Budget& budget = plan.runner.measure.budget;
  budget.least_rounds = std::max<std::uint64_t>(5, 30 / launches);
  harness::Runner runner(plan.runner, plan.programs, context.environment.block());
  return runner.compare(plan.sweep.bench, plan.groups, kept.done, on_rows);
}

Comparison comparison_of(const std::vector<Row>& rows, const SweepPlan& plan) {
  // Of a comparison that was interrupted not all may be there.
  const Result<std::vector<Row>> shown = harness::aligned(rows, plan.alignments);
  return Comparison::of_peers(harness::join_launches(shown.ok() ? *shown : rows),
                              !harness::has_axis(plan.alignments, rows), !plan.sweep.algorithms.empty());
}

Status draw(KeptRun& kept, const std::string& baseline, const SweepPlan& plan, const CompareOptions& options,
            const Context& context) {
  if (options.figure.empty()) return {};
  const Result<std::vector<Row>> shown = harness::aligned(kept.rows, plan.alignments);
  const harness::StoredRun run = description_of(kept, paired_run_of(plan, baseline, context));
  return write_figure(options.figure, shown.ok() ? *shown : kept.rows, run, Quantity::time, context);
}

// The first where an interrupt came before it.
std::size_t place_of(const std::string& competitor, const std::vector<std::string>& competitors) {
  const auto found = std::find(competitors.begin(), competitors.end(), competitor);
  return found == competitors.end() ? 0 : static_cast<std::size_t>(found - competitors.begin());
}

}  // namespace

Exit compare_live(const CompareOptions& options, const BenchWorld& world, const Context& context) {
  Result<Asked> asked = check(options, world, context.environment);
  if (!asked.ok()) return failed(context, name_of(context), asked.status());
  SweepPlan& plan = asked->plan;
  for (const std::string& warning : plan.warnings) context.error << warning << "\n";
  if (options.sweep.dry_run) {
    context.error << plan.announcement() << ", side by side\n" << std::flush;
    context.out << list_of(plan);
    return Exit::done;
  }
  if (const Status made = make_output_folder(plan); !made.ok()) return failed(context, name_of(context), made);
  Result<KeptRun> kept = keep_run(options.keeping, paired_run_of(plan, asked->baseline, context), plan, context);
  if (!kept.ok()) return failed(context, name_of(context), kept.status());
  context.error << announcement_of(plan, *kept) << ", side by side\n";
  if (kept->store) context.error << fmt::format("run {} in {}\n", kept->run, kept->path);
  context.error << std::flush;

  const Interrupt interrupt;
  if (const Status measured = measure(plan, *kept, context); !measured.ok())
    return failed(context, name_of(context), measured);
  const bool is_whole = !Interrupt::has_come();
  if (kept->store && is_whole)
    if (const Status completed = kept->store->complete(kept->run); !completed.ok())
      return failed(context, name_of(context), completed);
  if (kept->rows.empty()) {
    context.error << "interrupted before anything was compared\n";
    return Interrupt::exit();
  }
  if (const Status drawn = draw(*kept, asked->baseline, plan, options, context); !drawn.ok())
    return failed(context, name_of(context), drawn);
  const Comparison comparison = comparison_of(kept->rows, plan);
  const Exit exit =
      conclude(comparison, place_of(asked->baseline, comparison.competitors), asked->fail_on, options, context);
  if (is_whole) return exit;
  const std::size_t num_there = num_done(plan, *kept);
  context.error << fmt::format("interrupted: {} of {} {} done{}\n", num_there, counted(plan.num_cases(), "case"),
                               are(num_there),
                               kept->store ? " and kept; to continue, repeat the command with --resume" : "");
  return Interrupt::exit();
}

namespace {

Exit compare(CompareArguments options, const BenchWorld& world, const Context& context) {
  const auto refuse = [&](std::string words) {
    return failed(context, name_of(context), wrong_argument(std::move(words)));
  };
  const auto mark = std::find(context.arguments.begin(), context.arguments.end(), "--");
  const bool has_mark = mark != context.arguments.end();
  const std::ptrdiff_t num_behind = has_mark ? context.arguments.end() - mark - 1 : 0;
  if (has_mark && num_behind == 0) return refuse("no program follows --");
  if (has_mark && num_behind != std::ssize(options.words))
    return refuse(
        fmt::format("{} was not expected before --; the program follows --", in_quotes(options.words.front())));
  if (const Status fits = check_options(options); !fits.ok()) return failed(context, name_of(context), fits);
  if (!has_mark && !options.words.empty()) return compare_runs(options, options.words, options.ignored, context);
  if (!options.ignored.empty()) return refuse("--ignore is for two kept runs");
  options.sweep.command = options.words;
  return compare_live(options, world, context);
}

void add_view_options(CLI::App& app, CompareArguments& options) {
  app.add_option("--view", options.view,
                 "pairs: how many times as fast the first is as each other; best: one line a case with the fastest")
      ->type_name("pairs|best")
      ->capture_default_str();
  app.add_option("--baseline", options.baseline, "The competitor that --view best compares with, instead of the first")
      ->type_name("NAME");
  app.add_option(
         "--by", options.by,
         "Instead: the ratio to the first over all cases with the same value of this column: ranks, bytes or an axis")
      ->type_name("COLUMN")
      ->check([](const std::string& text) { return std::string(text.empty() ? "'' is no column" : ""); });
  app.add_option(
         "--fail-on", options.fail_on,
         "Exit with 1 if a verdict is this one by more than the share, or if launches are too few for a verdict")
      ->type_name("slower:3%");
}

}  // namespace

Command compare_command(const BenchWorld& world) {
  return {.name = "compare",
          .summary = "Compare peers or settings side by side, in turns, or two runs that were kept",
          .examples =
              "tutti compare --bench all_reduce --peer openmpi,mpich -a num_ranks=2 -a bytes=8:1M:x8\n"
              "tutti compare --peer openmpi --env OMPI_MCA_coll_tuned_allreduce_algorithm=3,4 -a bytes=64K\n"
              "tutti compare --peer tutti,openmpi -a algorithm=default,all --view best -a bytes=64K\n"
              "tutti compare --peer tutti,simulate:host:2x2 -a bytes=8:1M:x8\n"
              "tutti compare --peer all --view best --baseline openmpi\n"
              "tutti compare --peer simulate:h100_cluster:64x1 -a num_ranks=8,16,32,64 -a bytes=512K:128M:x2 "
              "-a algorithm=ring,ring_bidir_ag --by ranks\n"
              "tutti compare --env NCCL_MIN_CTAS=16,32 -- ./all_reduce_perf -b 8 -e 128M -f 2 -g 8\n"
              "tutti compare 3 last --wide\n"
              "tutti compare 3 last --fail-on slower:3%\n"
              "tutti compare 3 4 --ignore NCCL_MIN_CTAS",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<CompareArguments>();
            app.add_option(
                   "what", options->words,
                   "Two kept runs, by number or name, or 'last'; or, after --, a program whose settings are compared")
                ->type_name("RUN RUN | -- COMMAND");
            add_sweep_options(app, options->sweep, world);
            begin_group(app, "A program instead of a bench");
            add_program_options(app, options->sweep);
            begin_group(app, "What is compared");
            app.add_option(
                   "--ignore", options->ignored,
                   "Compare two runs over this variable or axis: match cases without it [the only one that differs]")
                ->type_name("NAME");
            add_view_options(app, *options);
            begin_group(app, "What is kept and shown");
            add_keeping_options(app, options->keeping);
            app.add_option("--figure", options->figure, kFigureHelp)->type_name("FILE")->check(objection_to_file);
            add_output_options(app, options->output);
            add_wide_option(app, options->output);
            return [options, &world](const Context& context) { return compare(*options, world, context); };
          }};
}

}  // namespace tutti::cli
