// `tutti run`: runs a sweep and keeps what it gives.
#include <algorithm>
#include <memory>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/views.hpp"
#include "cli/bench_commands.hpp"
#include "cli/bench_store.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/sweep_options.hpp"

namespace tutti::cli {

namespace {

using harness::Row;

struct Options {
  SweepOptions sweep;
  OutputOptions output;
  std::string store;
  bool resume = false;
  bool no_store = false;
};

Exit misuse(const Context& context, const Status& status) {
  context.error << "tutti run: " << status.to_string() << "\n'tutti run --help' tells more\n";
  return Exit::misused;
}

// A run in the store: a new one, or the one that is resumed.
struct Kept {
  std::optional<harness::Store> store;
  std::string path;
  std::int64_t run = 0;
  std::set<std::string> done;
  std::vector<Row> rows;
};

Result<Kept> open_store(const Options& options, const Plan& plan, const Context& context) {
  Kept kept;
  if (options.no_store) return kept;
  Result<std::string> path = store_path(options.store, context.environment);
  if (!path.ok()) return path.status();
  kept.path = *path;
  Result<harness::Store> store = harness::Store::open(kept.path);
  if (!store.ok()) return store.status();
  kept.store = std::move(*store);
  const harness::Run run = run_of(plan, context.arguments);
  if (options.resume) {
    const auto last = kept.store->last_incomplete(run.sweep);
    if (!last.ok()) return last.status();
    if (!*last)
      return Status(
          Code::invalid_usage,
          fmt::format("there is nothing to resume in {}: no run of this sweep was left unfinished", kept.path));
    kept.run = (**last).id;
    Result<std::set<std::string>> keys = kept.store->keys_of(kept.run);
    if (!keys.ok()) return keys.status();
    kept.done = std::move(*keys);
    Result<std::vector<Row>> rows = kept.store->rows_of(kept.run);
    if (!rows.ok()) return rows.status();
    kept.rows = std::move(*rows);
    return kept;
  }
  const Result<std::int64_t> begun = kept.store->begin(run);
  if (!begun.ok()) return begun.status();
  kept.run = *begun;
  return kept;
}

Exit run(const Options& options, const BenchWorld& world, const Context& context) {
  Result<Plan> plan = make_plan(options.sweep, world);
  if (!plan.ok()) return misuse(context, plan.status());
  if (const Status ready = check_output(options.output); !ready.ok()) return misuse(context, ready);
  if (options.sweep.dry_run) {
    context.error << plan->announcement() << "\n";
    context.out << list_of(*plan);
    return Exit::done;
  }
  Result<Kept> kept = open_store(options, *plan, context);
  if (!kept.ok()) return misuse(context, kept.status());
  context.error << plan->announcement();
  if (!kept->done.empty()) context.error << fmt::format("; {} of them are done already", kept->done.size());
  context.error << "\n" << std::flush;

  const Interrupt interrupt;
  plan->runner.measure.is_interrupted = Interrupt::has_come;
  const auto num_bad = static_cast<std::size_t>(std::count_if(kept->rows.begin(), kept->rows.end(), is_bad));
  Progress progress(context, plan->num_cases(), kept->done.size(), num_bad);
  harness::Runner runner(plan->runner, plan->programs, context.environment.block());
  const Status ended = runner.run(plan->sweep.bench, plan->groups, kept->done, [&](const Row& row) -> Status {
    if (kept->store) TUTTI_TRY(kept->store->add(kept->run, row));
    kept->rows.push_back(row);
    progress.note(row);
    return {};
  });
  const bool interrupted = Interrupt::has_come();
  if (ended.ok() && !interrupted && kept->store) {
    const Status completed = kept->store->complete(kept->run);
    if (!completed.ok()) context.error << "tutti run: " << completed.to_string() << "\n";
  }
  const Status written = write_output(rendered(harness::table_of(kept->rows), options.output), options.output, context);
  if (kept->store) context.error << fmt::format("run {} in {}\n", kept->run, kept->path);
  if (!written.ok()) return misuse(context, written);
  if (!ended.ok()) return misuse(context, ended);
  if (interrupted) {
    context.error << fmt::format("interrupted: {} of {} cases are done{}\n", progress.num_done(), plan->num_cases(),
                                 kept->store ? " and kept; the same command with --resume does the others" : "");
    return static_cast<Exit>(130);
  }
  if (progress.num_bad() > 0)
    context.error << fmt::format("{} of {} cases are wrong or could not be measured\n", progress.num_bad(),
                                 plan->num_cases());
  return progress.num_bad() == 0 ? Exit::done : Exit::found_wrong;
}

}  // namespace

Command run_command(const BenchWorld& world) {
  return {
      .name = "run",
      .summary = "Run a sweep of benchmarks over peers, sizes and settings of the environment, and keep the results",
      .examples =
          "tutti run --bench all_reduce --peer openmpi,mpich -a num_ranks=2 -a bytes=8:16M:x8\n"
          "tutti run --bench all_reduce --peer openmpi --env OMPI_MCA_coll_tuned_use_dynamic_rules=1 --env "
          "OMPI_MCA_coll_tuned_allreduce_algorithm=unset,1,3,4,6\n"
          "tutti run --bench all_gather --peer openmpi,mpich -a algorithm=default,all -a bytes=64K\n"
          "tutti run --peer all -a bytes=1K,1M --format csv -o results.csv\n"
          "tutti run --sweep nightly.toml --resume",
      .define = [&world](CLI::App& app) -> Run {
        const auto options = std::make_shared<Options>();
        add_sweep_options(app, options->sweep);
        app.add_option("--store", options->store, "The SQLite file that keeps results (docs/formats/store.md)")
            ->type_name("FILE");
        app.add_flag("--resume", options->resume, "Go on with the last run of the same sweep that was not finished");
        app.add_flag("--no-store", options->no_store, "Keep nothing")->excludes("--store")->excludes("--resume");
        add_output_options(app, options->output);
        return [options, &world](const Context& context) { return run(*options, world, context); };
      }};
}

}  // namespace tutti::cli
