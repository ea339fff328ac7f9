// SPDX-License-Identifier: Apache-2.0
// `tutti prove`: proves algorithms for the numbers of ranks asked for; one line an algorithm, and the story of the
// first thing that is wrong.
#include "schedule/prove/prove.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"
#include "bench/views/table.hpp"
#include "cli/commands.hpp"
#include "cli/heartbeat.hpp"
#include "cli/number.hpp"
#include "cli/output.hpp"
#include "cli/schedule/case_options.hpp"
#include "cli/schedule/choice.hpp"
#include "cli/schedule/proof_summary.hpp"
#include "cli/schedule/prove_file.hpp"
#include "cli/schedule/prove_mutate.hpp"
#include "schedule/cost.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostProven = 1024;
constexpr std::uint64_t kMostMutants = 1'000'000'000;
constexpr std::uint64_t kMostShown = 1000;

struct ProveArguments {
  bool all = false;
  ChoiceOptions choice;
  std::string ranks = "1-33";
  CaseFilter filter;
  std::vector<std::string> files;
  MutateChoice mutate;  // of no mutants: they are not asked for
  OutputOptions output;
};

struct RankRange {
  std::uint32_t first = 1;
  std::uint32_t last = 1;
};

std::optional<std::uint32_t> read_ranks(std::string_view text) {
  return read_number<std::uint32_t>(text, 1, kMostProven);
}

Result<std::vector<RankRange>> parse_ranks(std::string_view text) {
  std::vector<RankRange> ranges;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t hyphen = part.find('-');
    const auto first = read_ranks(part.substr(0, hyphen));
    const auto last = hyphen == std::string_view::npos ? first : read_ranks(part.substr(hyphen + 1));
    if (!first || !last || *last < *first) {
      return Status(Code::invalid_argument,
                    fmt::format("--num-ranks: {} is not a number or a range of ranks from 1 to {}, like 2,3,5-9",
                                in_quotes(part), kMostProven));
    }
    ranges.push_back({*first, *last});
  }
  return ranges;
}

// What is proven of one algorithm in all its cases together.
struct RowSummary {
  std::optional<std::string> failure;  // with the case in front
  std::size_t failed_case = 0;
  std::size_t num_cases = 0;
  ProofSummary proofs;  // the cost is of the first case of the most ranks
};

// One thing to prove.
struct Task {
  std::size_t row = 0;
  Request request;
  bool wants_cost = false;
};

// What to prove of rows.
struct Tasks {
  std::vector<Task> tasks;
  std::vector<std::string> why_none;  // by row, where it has no case
};

// Proves the tasks on all cores. Of an algorithm that is wrong, the first wrong case is told, whoever finds it first.
class Provers {
 public:
  Provers(const std::vector<const Algorithm*>& rows, std::vector<Task> tasks)
      : rows_(rows), tasks_(std::move(tasks)), summaries_(rows.size()) {}

  // The number of cases that it has left behind is told in `num_done`.
  std::vector<RowSummary> run(std::atomic<std::size_t>& num_done) {
    num_done_ = &num_done;
    std::vector<std::jthread> threads;
    for (unsigned each = 1; each < std::max(std::thread::hardware_concurrency(), 1U); ++each)
      threads.emplace_back([this] { work(); });
    work();
    threads.clear();
    return std::move(summaries_);
  }

 private:
  void work() {
    for (std::size_t index = next_++; index < tasks_.size(); index = next_++) {
      prove_one(index);
      ++*num_done_;
    }
  }

  void prove_one(std::size_t index) {
    const Task& task = tasks_[index];
    const Algorithm& algorithm = *rows_[task.row];
    RowSummary& summary = summaries_[task.row];
    {
      const std::scoped_lock lock(mutex_);
      if (summary.failure && summary.failed_case < index) return;
    }
    const Schedule schedule = algorithm.make(task.request);
    const Proof proof = prove(schedule);
    const Cost cost = proof.ok() && task.wants_cost ? cost_of(schedule) : Cost();
    const std::scoped_lock lock(mutex_);
    ++summary.num_cases;
    if (proof.ok()) {
      summary.proofs.add(schedule, proof);
      if (task.wants_cost) summary.proofs.set_cost(cost);
    } else if (!summary.failure || index < summary.failed_case) {
      const bool rooted = facts_of(algorithm.collective).has_root;
      summary.failed_case = index;
      summary.failure = fmt::format(
          "{} {} of {}{}: {}", name_of(algorithm.collective), schedule.name, counted(task.request.num_ranks, "rank"),
          rooted ? fmt::format(", root {}", task.request.root) : std::string(), proof.failure->to_string());
    }
  }

  const std::vector<const Algorithm*>& rows_;
  const std::vector<Task> tasks_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t>* num_done_ = nullptr;
  std::mutex mutex_;  // guards summaries_
  std::vector<RowSummary> summaries_;
};

// Adds the cases of one row, and says why where it has none.
void add_tasks(const Algorithm& algorithm, std::size_t row, const std::vector<RankRange>& ranges,
               const CaseFilter& filter, Tasks& all) {
  std::vector<Task>& tasks = all.tasks;
  std::size_t of_most = tasks.size();
  std::uint32_t most = 0;
  std::string why_none;
  for (const RankRange& range : ranges) {
    for (std::uint32_t ranks = range.first; ranks <= range.last; ++ranks) {
      const std::size_t before = tasks.size();
      Cases cases = find_cases(algorithm, ranks, filter);
      for (Request& request : cases.requests) tasks.push_back({row, std::move(request)});
      if (why_none.empty()) why_none = std::move(cases.objection);
      if (ranks < most || tasks.size() == before) continue;
      most = ranks;
      of_most = before;
    }
  }
  if (most > 0) tasks[of_most].wants_cost = true;
  all.why_none.push_back(most > 0 ? std::string() : std::move(why_none));
}

Tasks tasks_of(const std::vector<const Algorithm*>& rows, const std::vector<RankRange>& ranges,
               const CaseFilter& filter, const Context& context) {
  Tasks tasks;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    add_tasks(*rows[row], row, ranges, filter, tasks);
    if (!tasks.why_none[row].empty()) {
      context.error << fmt::format("tutti prove: there is no case of {} {}: {}\n", name_of(rows[row]->collective),
                                   rows[row]->name, tasks.why_none[row]);
    }
  }
  return tasks;
}

Table empty_table() {
  return proof_table({{.name = "collective", .stands_once = true},
                      {"algorithm"},
                      {"ranks", 0, true},
                      {"ranks_allowed", 8},
                      {"parameters", 11},
                      {"cases"},
                      {.name = "verdict", .stands_once = true}});
}

std::vector<Cell> cells_of(const Algorithm& algorithm, const std::string& ranks, const RowSummary& summary,
                           std::size_t num_columns) {
  const std::string_view verdict = summary.failure ? "wrong" : summary.num_cases == 0 ? "no case" : "proven";
  const std::string parameters = parameters_of(algorithm);
  std::vector<Cell> cells = {std::string(name_of(algorithm.collective)),
                             std::string(algorithm.name),
                             ranks,
                             algorithm.ranks == "any" ? Cell() : Cell(std::string(algorithm.ranks)),
                             parameters.empty() ? Cell() : Cell(parameters),
                             number_cell(summary.num_cases),
                             std::string(verdict)};
  if (!summary.failure && summary.num_cases > 0)
    for (Cell& cell : summary.proofs.cells()) cells.push_back(std::move(cell));
  cells.resize(num_columns);
  return cells;
}

Exit mutate_rows(const ProveArguments& options, const std::vector<const Algorithm*>& rows, std::vector<Task> tasks,
                 const Context& context) {
  std::vector<MutateCase> cases;
  cases.reserve(tasks.size());
  for (Task& task : tasks) cases.push_back({rows[task.row], std::move(task.request)});
  MutateChoice choice = options.mutate;
  choice.seed = options.filter.seed;
  choice.with_random_schedules = options.choice.algorithm.empty() && options.choice.collective.empty();
  return mutate_cases(cases, choice, options.output, context);
}

Exit prove_rows(const ProveArguments& options, const std::vector<const Algorithm*>& rows, std::vector<Task> tasks,
                const Context& context) {
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<std::size_t> num_done = 0;
  std::optional<Heartbeat> heartbeat;
  heartbeat.emplace(context.error, context.sign_of_life, [&num_done, begin, num_tasks = tasks.size()] {
    return how_far(num_done, num_tasks, "case", begin);
  });
  const std::vector<RowSummary> summaries = Provers(rows, std::move(tasks)).run(num_done);
  heartbeat.reset();
  Table table = empty_table();
  std::size_t num_cases = 0;
  bool wrong = false;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    table.add_row(cells_of(*rows[row], options.ranks, summaries[row], table.columns().size()));
    num_cases += summaries[row].num_cases;
    if (!summaries[row].failure) continue;
    wrong = true;
    context.error << *summaries[row].failure << "\n";
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const Status written = write_output(narrowed(table, options.output, context), options.output, context);
  if (!written.ok()) return failed(context, "prove", written);
  context.error << fmt::format("{}, {}, seed {}, in {:.2f} s\n", counted(rows.size(), "algorithm"),
                               counted(num_cases, "case"), options.filter.seed, taken.count());
  return wrong ? Exit::found_wrong : num_cases == 0 ? Exit::misused : Exit::done;
}

Exit run(const ProveArguments& options, const Context& context) {
  if (options.all && (!options.choice.algorithm.empty() || !options.choice.collective.empty()))
    return misused(context, "prove", "--all is every algorithm; it does not go with --algorithm or --collective");
  const Result<std::vector<RankRange>> ranges = parse_ranks(options.ranks);
  if (!ranges.ok()) return failed(context, "prove", ranges.status());
  const Result<std::vector<const Algorithm*>> rows = chosen(options.choice, options.filter);
  if (!rows.ok()) return failed(context, "prove", rows.status());
  Tasks tasks = tasks_of(*rows, *ranges, options.filter, context);
  return options.mutate.count > 0 ? mutate_rows(options, *rows, std::move(tasks.tasks), context)
                                  : prove_rows(options, *rows, std::move(tasks.tasks), context);
}

// --mutate and what belongs to it.
void add_mutate_options(CLI::App& app, MutateChoice& choice) {
  app.add_option_function<std::string>(
         "--mutate", number_into("--mutate", 1, kMostMutants, choice.count),
         "Instead: change schedules at random in N ways, prove each, and run those that prove accepts")
      ->type_name("N");
  app.add_option_function<std::string>("--show", number_into("--show", 1, kMostShown, choice.show),
                                       "Print up to N harmless mutants that were rejected, for each reason")
      ->type_name("N")
      ->needs("--mutate");
  app.add_flag("--details", choice.details, "Count each kind of mutation of each algorithm separately")
      ->needs("--mutate");
}

Run define_prove(CLI::App& app) {
  const auto options = std::make_shared<ProveArguments>();  // shared with the closure, which std::function copies
  app.add_flag("--all", options->all, "Every algorithm of every collective, as without --algorithm and --collective");
  add_choice_options(app, options->choice);
  app.add_option("-n,--num-ranks", options->ranks, "Numbers of ranks: 4, 2-33, or 2,3,5-9")
      ->type_name("LIST")
      ->capture_default_str();
  add_case_options(app, options->filter, CaseUse::all);
  app.add_option_function<std::string>("--seed", number_into("--seed", 0, UINT64_MAX, options->filter.seed),
                                       "Seed of the groups and mutants that are drawn [1]")
      ->type_name("N");
  add_mutate_options(app, options->mutate);
  CLI::Option* files =
      app.add_option(
             "--file", options->files,
             "Instead: prove schedule files (docs/formats/schedule.md) or MSCCL programs (docs/formats/msccl.md)")
          ->type_name("PATH");
  for (CLI::Option* other : app.get_options())
    if (other != files && other != app.get_help_ptr()) files->excludes(other);
  add_output_options(app, options->output);
  add_wide_option(app, options->output);
  return [options](const Context& context) {
    return options->files.empty() ? run(*options, context) : prove_files(options->files, options->output, context);
  };
}

}  // namespace

Command prove_command() {
  return {.name = "prove",
          .summary = "Prove that algorithms are right, or show step by step how one goes wrong",
          .examples =
              "tutti prove\n"
              "tutti prove --algorithm ring --collective all_reduce --num-ranks 2-33\n"
              "tutti prove --all --num-ranks 1-33\n"
              "tutti prove --algorithm knomial --collective broadcast --num-ranks 7 --radix 3 --root 2\n"
              "tutti prove --algorithm hierarchical --num-ranks 12 --inner bucket_2d --grid 2x2\n"
              "tutti prove --num-ranks 2,3,5-9 --json\n"
              "tutti prove --file my_all_reduce.sched --file program.xml\n"
              "tutti prove --all --num-ranks 2-9 --mutate 20000 --seed 1\n"
              "tutti prove --collective reduce --num-ranks 2-4 --mutate 500 --show 2",
          .define = define_prove};
}

}  // namespace tutti::cli
