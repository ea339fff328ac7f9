// `tutti compare`: peers or settings side by side, live, in turns; or two runs that are in the store.
#include "cli/compare.hpp"

#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/comparison.hpp"
#include "bench/comparison_by.hpp"
#include "cli/bench_commands.hpp"
#include "cli/bench_store.hpp"
#include "cli/comparison_output.hpp"
#include "cli/counted.hpp"
#include "cli/fail_on.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/sweep_options.hpp"

namespace tutti::cli {
namespace {

using harness::Comparison;
using harness::Row;

// `run communicators` compares too.
std::string_view name_of(const Context& context) {
  return context.arguments.empty() ? "compare" : std::string_view(context.arguments.front());
}

struct CompareArguments : CompareOptions {
  std::vector<std::string> runs;
};

// The bench communicators is about the others: the first of those is what it compares with.
Result<std::size_t> baseline_of(const std::vector<std::string>& competitors, const CompareOptions& options) {
  const auto other = std::find_if(competitors.begin(), competitors.end(), [](const std::string& name) {
    return !name.starts_with("tutti") && !name.starts_with("simulate") && !name.starts_with("null");
  });
  if (options.baseline.empty() && options.prefers_others && other != competitors.end())
    return static_cast<std::size_t>(other - competitors.begin());
  return cli::baseline_of(competitors, options.baseline);
}

Status check_options(const CompareOptions& options) {
  if (!same_name(options.view, "pairs") && !same_name(options.view, "best"))
    return wrong_argument(fmt::format("--view is {}; it takes pairs or best", in_quotes(options.view)));
  if (!options.baseline.empty() && !same_name(options.view, "best"))
    return wrong_argument("--baseline is for --view best; pairs are with the first of the peers");
  if (!options.by.empty() && same_name(options.view, "best"))
    return wrong_argument("--by is how each stands to the first; leave out --view best");
  return check_output(options.output);
}

// Shows it, and tells how it came out.
Exit conclude(const Comparison& comparison, std::size_t baseline, const std::optional<FailOn>& fail_on,
              const CompareOptions& options, const Context& context) {
  const Status written = !options.by.empty()               ? write_by(comparison, options.by, options.output, context)
                         : same_name(options.view, "best") ? write_best(comparison, baseline, options.output, context)
                                                           : write_pairs(comparison, options.output, context);
  if (!written.ok()) return misused(context, name_of(context), written);
  const Account account = account_of(comparison, baseline, fail_on);
  context.error << fmt::format("against {}: {}\n", printable(comparison.competitors[baseline]), account.in_words());
  const bool nothing = account.verdicts.empty();
  const bool fails_gate = fail_on && (account.num_hits > 0 || account.num_unmatched > 0);
  return nothing || account.num_bad > 0 || fails_gate ? Exit::found_wrong : Exit::done;
}

// --- live

Status check_plan(const Plan& plan) {
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
  if (plan.runner.launches > 1 &&
      !harness::median_bounds(static_cast<std::uint64_t>(plan.runner.launches), harness::kConfidence))
    return wrong_argument(
        fmt::format("--launches is {}; that is too few for an interval over launches. It takes 6 and more, or 1 "
                    "for one over rounds",
                    plan.runner.launches));
  return {};
}

// What a plan's comparison will be of, before anything has been measured.
Comparison outlook_of(const Plan& plan) {
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
  Plan plan;
  std::optional<FailOn> fail_on;
  std::string baseline;  // a competitor
};

Result<Asked> check(const CompareOptions& options, const BenchWorld& world, const Environment& environment) {
  TUTTI_TRY(check_options(options));
  SweepOptions sweep = options.sweep;
  if (sweep.launches.empty()) sweep.launches = "7";
  Result<Plan> plan = make_plan(sweep, world, environment);
  if (!plan.ok()) return plan.status();
  if (plan->command)
    return wrong_argument("a program is not compared live; tutti run it twice, and compare the two runs");
  const Result<std::optional<FailOn>> fail_on = read_fail_on(options.fail_on);
  if (!fail_on.ok()) return fail_on.status();
  TUTTI_TRY(check_plan(*plan));
  const Comparison outlook = outlook_of(*plan);
  const Result<std::size_t> baseline = baseline_of(outlook.competitors, options);
  if (!baseline.ok()) return baseline.status();
  if (!options.by.empty())
    if (const Result<Table> by = table_by(outlook, options.by); !by.ok()) return by.status();
  return Asked{.plan = std::move(*plan), .fail_on = *fail_on, .baseline = outlook.competitors[*baseline]};
}

// What is measured, and the run in the store that keeps it, where there is one.
struct Kept {
  std::optional<harness::Store> store;
  std::int64_t run = 0;
  std::vector<Row> rows;
};

Result<Kept> open_store(const CompareOptions& options, const Plan& plan, const Context& context) {
  Kept kept;
  if (options.no_store) return kept;
  const Result<std::string> path = store_path(options.store, context.environment);
  if (!path.ok()) return path.status();
  Result<harness::Store> store = harness::Store::open(*path);
  if (!store.ok()) return store.status();
  harness::Run run = run_of(plan, context);
  run.is_paired = true;
  const Result<std::int64_t> begun = store->begin(run);
  if (!begun.ok()) return begun.status();
  kept.run = *begun;
  kept.store = std::move(*store);
  context.error << fmt::format("run {} in {}\n", kept.run, *path) << std::flush;
  return kept;
}

// All that is planned, or what an interrupt leaves of it.
Status measure(Plan& plan, Kept& kept, const Context& context) {
  plan.runner.measure.is_interrupted = Interrupt::has_come;
  // What all launches together have is what one would have.
  const auto launches = static_cast<std::uint64_t>(plan.runner.launches);
  harness::Budget& budget = plan.runner.measure.budget;
  budget.seconds /= static_cast<double>(launches);
  budget.least_rounds = std::max<std::uint64_t>(5, 30 / launches);
  harness::Runner runner(plan.runner, plan.programs, context.environment.block());
  Progress progress(context, plan.num_cases(), 0, 0);
  return runner.compare(plan.sweep.bench, plan.groups, [&](const Row& row) -> Status {
    if (kept.store) TUTTI_TRY(kept.store->add(kept.run, row));
    kept.rows.push_back(row);
    progress.note(std::span(&row, 1));
    return {};
  });
}

Comparison comparison_of(const std::vector<Row>& rows, const Plan& plan) {
  // Of a comparison that was interrupted not all may be there.
  const Result<std::vector<Row>> shown = harness::aligned(rows, plan.alignments);
  return Comparison::of_peers(harness::join_launches(shown.ok() ? *shown : rows),
                              !harness::has_axis(plan.alignments, rows), !plan.sweep.algorithms.empty());
}

// The first where an interrupt came before it.
std::size_t place_of(const std::string& competitor, const std::vector<std::string>& competitors) {
  const auto found = std::find(competitors.begin(), competitors.end(), competitor);
  return found == competitors.end() ? 0 : static_cast<std::size_t>(found - competitors.begin());
}

}  // namespace

Exit compare_live(const CompareOptions& options, const BenchWorld& world, const Context& context) {
  Result<Asked> asked = check(options, world, context.environment);
  if (!asked.ok()) return misused(context, name_of(context), asked.status());
  Plan& plan = asked->plan;
  context.error << plan.announcement() << ", side by side\n" << std::flush;
  if (options.sweep.dry_run) {
    context.out << list_of(plan);
    return Exit::done;
  }
  Result<Kept> kept = open_store(options, plan, context);
  if (!kept.ok()) return misused(context, name_of(context), kept.status());

  const Interrupt interrupt;
  if (const Status measured = measure(plan, *kept, context); !measured.ok())
    return misused(context, name_of(context), measured);
  const bool is_whole = !Interrupt::has_come();
  if (kept->store && is_whole)
    if (const Status completed = kept->store->complete(kept->run); !completed.ok())
      return misused(context, name_of(context), completed);
  if (kept->rows.empty()) {
    context.error << "interrupted before anything was compared\n";
    return static_cast<Exit>(130);
  }
  const Comparison comparison = comparison_of(kept->rows, plan);
  const Exit exit =
      conclude(comparison, place_of(asked->baseline, comparison.competitors), asked->fail_on, options, context);
  if (is_whole) return exit;
  context.error << fmt::format("interrupted: {} of {} rows are there\n", kept->rows.size(), plan.num_cases());
  return static_cast<Exit>(130);
}

namespace {

// --- from the store

Exit compare_runs(const CompareArguments& options, const Context& context) {
  const Result<std::string> path = store_path(options.store, context.environment);
  if (!path.ok()) return misused(context, name_of(context), path.status());
  const Result<std::optional<FailOn>> fail_on = read_fail_on(options.fail_on);
  if (!fail_on.ok()) return misused(context, name_of(context), fail_on.status());
  Result<harness::Store> store = harness::Store::open_to_read(*path);
  if (!store.ok()) return misused(context, name_of(context), store.status());
  std::vector<std::vector<Row>> rows;
  std::vector<std::string> names;
  std::vector<harness::Run> runs;
  for (const std::string& name : options.runs) {
    const Result<harness::Run> run = store->find(name);
    if (!run.ok()) return misused(context, name_of(context), run.status());
    const Result<std::vector<Row>> of_run = store->rows_of(run->id);
    if (!of_run.ok()) return misused(context, name_of(context), of_run.status());
    rows.push_back(harness::join_launches(*of_run));
    names.push_back(fmt::format("run {}", run->id));
    runs.push_back(*run);
  }
  for (const auto& [what, member] :
       {std::pair("machine", &harness::Run::machine), std::pair("Tutti", &harness::Run::tutti)})
    if (runs[0].*member != runs[1].*member)
      context.error << fmt::format("they differ in {}: {} and {}\n", what, runs[0].*member, runs[1].*member);
  if (runs[0].id == runs[1].id) context.error << "both are the same run\n";
  return conclude(Comparison::of_runs(rows[0], rows[1], names), 0, *fail_on, options, context);
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
              "tutti compare 3 last --fail-on slower:3%",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<CompareArguments>();
            app.add_option("runs", options->runs, "Two runs of the store, by number, or last")->type_name("RUN RUN");
            add_sweep_options(app, options->sweep);
            app.add_option("--view", options->view, "Pairs with the first, or one line a case with the best of all")
                ->type_name("pairs|best")
                ->capture_default_str();
            app.add_option("--baseline", options->baseline,
                           "What --view best compares the best with, instead of the first")
                ->type_name("NAME");
            app.add_option("--by", options->by,
                           "Instead of each case, how each stands to the first over all cases of one number of ranks, "
                           "or of whatever else tells cases apart: ranks, bytes, an axis")
                ->type_name("COLUMN")
                ->check([](const std::string& text) { return std::string(text.empty() ? "'' is no column" : ""); });
            app.add_option("--fail-on", options->fail_on, "Exit with 1 where a verdict is that, by more than the share")
                ->type_name("slower:3%");
            app.add_option("--store", options->store, "The file that keeps results")->type_name("FILE");
            app.add_flag("--no-store", options->no_store, "Keep nothing")->excludes("--store");
            add_output_options(app, options->output);
            return [options, &world](const Context& context) {
              if (const Status fits = check_options(*options); !fits.ok())
                return misused(context, name_of(context), fits);
              if (options->runs.empty()) return compare_live(*options, world, context);
              if (options->runs.size() == 2) return compare_runs(*options, context);
              return misused(context, name_of(context),
                             wrong_argument(fmt::format("{} runs were named; two are compared", options->runs.size())));
            };
          }};
}

}  // namespace tutti::cli
