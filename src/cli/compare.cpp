// `tutti compare`: peers or settings side by side, live, in turns; or two runs that are in the store.
#include <chrono>
#include <map>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/statistics.hpp"
#include "bench/views.hpp"
#include "cli/bench_commands.hpp"
#include "cli/bench_store.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/sweep_options.hpp"

namespace tutti::cli {

namespace {

using harness::Compared;
using harness::Outcome;
using harness::Row;
using harness::Verdict;

struct Options {
  SweepOptions sweep;
  OutputOptions output;
  std::string store;
  std::string fail_on;
  std::vector<std::string> runs;
};

Exit misuse(const Context& context, const Status& status) {
  context.error << "tutti compare: " << status.to_string() << "\n'tutti compare --help' tells more\n";
  return Exit::misused;
}

// "slower:3%": a verdict, and how much of it is too much.
struct FailOn {
  Verdict verdict = Verdict::slower;
  double share = 0;
};

Result<std::optional<FailOn>> read_fail_on(const std::string& text) {
  if (text.empty()) return std::optional<FailOn>();
  const std::size_t colon = text.find(':');
  const std::string_view word = std::string_view(text).substr(0, colon);
  FailOn fail;
  if (same_name(word, "faster")) fail.verdict = Verdict::faster;
  const bool is_known = same_name(word, "slower") || same_name(word, "faster");
  if (is_known && colon != std::string::npos) {
    std::string_view share = std::string_view(text).substr(colon + 1);
    const bool has_sign = share.ends_with('%');
    if (has_sign) share.remove_suffix(1);
    const harness::Value value = harness::parse_value(share);
    fail.share = value.is_number() ? value.number() * (has_sign ? 0.01 : 1) : -1;
  }
  if (!is_known || fail.share < 0)
    return Status(
        Code::invalid_argument,
        fmt::format("--fail-on is {}; it takes slower or faster, with a share such as slower:3%", in_quotes(text)));
  return std::optional(fail);
}

bool is_hit(const FailOn& fail, const harness::Ratio& ratio) {
  if (ratio.verdict != fail.verdict) return false;
  const double beyond = fail.verdict == Verdict::slower ? 1 / ratio.ratio - 1 : ratio.ratio - 1;
  return beyond > fail.share;
}

struct Counted {
  std::map<Verdict, int> verdicts;
  int num_bad = 0;
  int num_hits = 0;
};

std::string in_words(const Counted& counted) {
  std::string text;
  for (const Verdict verdict : {Verdict::faster, Verdict::same, Verdict::slower, Verdict::undecided}) {
    const auto found = counted.verdicts.find(verdict);
    if (found != counted.verdicts.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second, name_of(verdict));
  }
  if (counted.num_bad > 0) text += fmt::format("{}{} not compared", text.empty() ? "" : ", ", counted.num_bad);
  return text.empty() ? "nothing was compared" : text;
}

Exit conclude(const Counted& counted, const Context& context) {
  context.error << in_words(counted) << "\n";
  return counted.num_bad > 0 || counted.num_hits > 0 ? Exit::found_wrong : Exit::done;
}

// --- live

Exit compare_live(const Options& options, const BenchWorld& world, const Context& context) {
  Result<Plan> plan = make_plan(options.sweep, world);
  if (!plan.ok()) return misuse(context, plan.status());
  const Result<std::optional<FailOn>> fail_on = read_fail_on(options.fail_on);
  if (!fail_on.ok()) return misuse(context, fail_on.status());
  if (const Status ready = check_output(options.output); !ready.ok()) return misuse(context, ready);
  std::vector<const harness::Group*> first;
  for (const harness::Group& group : plan->groups)
    if (group.num_ranks == plan->groups.front().num_ranks) first.push_back(&group);
  if (first.size() < 2)
    return misuse(context,
                  {Code::invalid_argument, "there is only one to compare; --peer a,b or --env NAME=a,b gives more"});
  if (plan->runner.launches != 1)
    return misuse(context,
                  {Code::invalid_argument, "--launches is for tutti run; groups that are compared stay alive"});
  // Pairs of rounds are what is counted, so there have to be enough of them.
  plan->runner.measure.least_rounds = 30;
  context.error << plan->announcement() << ", side by side\n" << std::flush;
  if (options.sweep.dry_run) {
    context.out << list_of(*plan);
    return Exit::done;
  }
  const Interrupt interrupt;
  plan->runner.measure.is_interrupted = Interrupt::has_come;
  harness::Runner runner(plan->runner, plan->programs, context.environment.block());
  const harness::View view = harness::View::side_by_side(plan->groups);
  Table table(view.columns_compared(harness::labels_of(first)));
  Counted counted;
  const Status ended = runner.compare(plan->sweep.bench, plan->groups, [&](const Compared& compared) -> Status {
    table.add_row(view.cells_compared(compared));
    for (std::size_t each = 1; each < compared.rows.size(); ++each) {
      const auto& ratio = compared.against[each];
      if (!ratio && compared.rows[each].outcome != Outcome::skipped) ++counted.num_bad;
      if (!ratio) continue;
      ++counted.verdicts[ratio->verdict];
      if (*fail_on && is_hit(**fail_on, *ratio)) ++counted.num_hits;
    }
    return {};
  });
  const Status written = write_output(rendered(table, options.output), options.output, context);
  if (!written.ok()) return misuse(context, written);
  if (!ended.ok()) return misuse(context, ended);
  if (Interrupt::has_come()) {
    context.error << "interrupted\n";
    return static_cast<Exit>(130);
  }
  return conclude(counted, context);
}

// --- from the store

// Of samples that were not taken in turns: the median's intervals against each other, which is cautious.
std::optional<harness::Ratio> unpaired(const Row& a, const Row& b) {
  if (a.samples.empty() || b.samples.empty()) return std::nullopt;
  const harness::Summary of_a = harness::summarize(a.samples);
  const harness::Summary of_b = harness::summarize(b.samples);
  harness::Ratio ratio;
  ratio.ratio = of_b.median / of_a.median;
  if (!of_a.interval || !of_b.interval) return ratio;
  ratio.interval =
      harness::Interval{of_b.interval->low / of_a.interval->high, of_b.interval->high / of_a.interval->low};
  ratio.verdict = harness::verdict_of(ratio);
  return ratio;
}

Exit compare_runs(const Options& options, const Context& context) {
  const Result<std::string> path = store_path(options.store, context.environment);
  if (!path.ok()) return misuse(context, path.status());
  const Result<std::optional<FailOn>> fail_on = read_fail_on(options.fail_on);
  if (!fail_on.ok()) return misuse(context, fail_on.status());
  Result<harness::Store> store = harness::Store::open_to_read(*path);
  if (!store.ok()) return misuse(context, store.status());
  std::vector<std::vector<Row>> rows;
  std::vector<std::string> labels;
  for (const std::string& name : options.runs) {
    const Result<harness::Run> run = store->find(name);
    if (!run.ok()) return misuse(context, run.status());
    Result<std::vector<Row>> of_run = store->rows_of(run->id);
    if (!of_run.ok()) return misuse(context, of_run.status());
    rows.push_back(std::move(*of_run));
    labels.push_back(fmt::format("run {}", run->id));
  }
  const harness::View view = harness::View::of(rows[0]);
  Table table(view.columns_compared(labels));
  Counted counted;
  for (const Row& first : rows[0]) {
    const auto second = std::find_if(rows[1].begin(), rows[1].end(),
                                     [&](const Row& row) { return harness::key_of(row) == harness::key_of(first); });
    if (second == rows[1].end()) continue;
    Compared compared{.rows = {first, *second}, .against = {std::nullopt, unpaired(*second, first)}};
    table.add_row(view.cells_compared(compared));
    if (!compared.against[1]) {
      ++counted.num_bad;
      continue;
    }
    ++counted.verdicts[compared.against[1]->verdict];
    if (*fail_on && is_hit(**fail_on, *compared.against[1])) ++counted.num_hits;
  }
  const Status written = write_output(rendered(table, options.output), options.output, context);
  if (!written.ok()) return misuse(context, written);
  return conclude(counted, context);
}

}  // namespace

Command compare_command(const BenchWorld& world) {
  return {.name = "compare",
          .summary = "Compare peers or settings side by side, in turns, or two runs that were kept",
          .examples =
              "tutti compare --bench all_reduce --peer openmpi,mpich -a num_ranks=2 -a bytes=8:1M:x8\n"
              "tutti compare --peer openmpi --env OMPI_MCA_coll_tuned_allreduce_algorithm=3,4 -a bytes=64K\n"
              "tutti compare 3 last --fail-on slower:3%",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<Options>();
            app.add_option("runs", options->runs, "Two runs of the store, by number, or last")->type_name("RUN RUN");
            add_sweep_options(app, options->sweep);
            app.add_option("--fail-on", options->fail_on, "Exit with 1 where a verdict is that, by more than the share")
                ->type_name("slower:3%");
            app.add_option("--store", options->store, "The file that keeps results")->type_name("FILE");
            add_output_options(app, options->output);
            return [options, &world](const Context& context) {
              if (options->runs.empty()) return compare_live(*options, world, context);
              if (options->runs.size() == 2) return compare_runs(*options, context);
              return misuse(context, {Code::invalid_argument,
                                      fmt::format("{} runs were named; two are compared", options->runs.size())});
            };
          }};
}

}  // namespace tutti::cli
