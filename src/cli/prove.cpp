// `tutti prove`: proves algorithms for the numbers of ranks asked for; one line an algorithm, and the story of the
// first thing that is wrong.
#include "schedule/prove.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "base/text.hpp"
#include "cli/case_options.hpp"
#include "cli/choice.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/prove_file.hpp"
#include "cli/prove_mutate.hpp"
#include "cli/table.hpp"
#include "schedule/cost.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostRanks = 1024;
constexpr std::size_t kNumColumns = 16;

struct Options {
  bool all = false;
  ChoiceOptions choice;
  std::string ranks = "1-33";
  CaseOptions cases;
  std::vector<std::string> files;
  MutateChoice mutate;
  OutputOptions output;
};

struct RankRange {
  std::uint32_t first = 1;
  std::uint32_t last = 1;
};

std::optional<std::uint32_t> read_ranks(std::string_view text) {
  std::uint32_t ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc() || end != text.data() + text.size() || ranks == 0 || ranks > kMostRanks) return std::nullopt;
  return ranks;
}

Result<std::vector<RankRange>> parse_ranks(std::string_view text) {
  std::vector<RankRange> ranges;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t hyphen = part.find('-');
    const auto first = read_ranks(trim(part.substr(0, hyphen)));
    const auto last = hyphen == std::string_view::npos ? first : read_ranks(trim(part.substr(hyphen + 1)));
    if (!first || !last || *last < *first) {
      return Status(Code::invalid_argument,
                    fmt::format("--ranks: {} is not a number or a range of ranks from 1 to {}, like 2,3,5-9",
                                in_quotes(part), kMostRanks));
    }
    ranges.push_back({*first, *last});
  }
  return ranges;
}

// What is proven of one algorithm in all its cases together.
struct Summary {
  std::optional<std::string> failure;  // with the case in front
  std::size_t failed_case = 0;
  std::size_t num_cases = 0;
  OrderClass order = OrderClass::ordered;
  bool has_messages = false;
  std::uint32_t depth = 0;
  std::uint32_t depth_fused = 0;
  std::uint32_t slots = 0;
  Exposure out_of_place = Exposure::none;
  Exposure in_place = Exposure::none;
  bool allows_out_of_place = true;
  bool allows_in_place = true;
  Cost cost;  // of the first case of the most ranks
};

// One thing to prove.
struct Task {
  std::size_t row = 0;
  Request request;
  bool wants_cost = false;
};

// Copy-only in one case is copy-only; name-safe needs all of them.
Exposure both(Exposure a, Exposure b) {
  if (a == Exposure::copy_only || b == Exposure::copy_only) return Exposure::copy_only;
  return a == Exposure::none ? b : a;
}

void add(Summary& summary, const Schedule& schedule, const Proof& proof) {
  summary.order = std::max(summary.order, proof.order);
  summary.has_messages = summary.has_messages || proof.has_messages;
  summary.depth = std::max(summary.depth, proof.least_depth);
  summary.depth_fused = std::max(summary.depth_fused, proof.least_depth_fused);
  summary.slots = std::max(summary.slots, proof.least_slots);
  summary.out_of_place = both(summary.out_of_place, proof.out_of_place.exposure);
  summary.in_place = both(summary.in_place, proof.in_place.exposure);
  summary.allows_out_of_place = summary.allows_out_of_place && schedule.allows_out_of_place;
  summary.allows_in_place = summary.allows_in_place && schedule.allows_in_place;
}

// Proves the tasks on all cores. Of an algorithm that is wrong, the first wrong case is told, whoever finds it first.
class Provers {
 public:
  Provers(const std::vector<const Algorithm*>& rows, std::vector<Task> tasks)
      : rows_(rows), tasks_(std::move(tasks)), summaries_(rows.size()) {}

  std::vector<Summary> run() {
    std::vector<std::jthread> threads;
    for (unsigned each = 1; each < std::max(std::thread::hardware_concurrency(), 1U); ++each)
      threads.emplace_back([this] { work(); });
    work();
    threads.clear();
    return std::move(summaries_);
  }

 private:
  void work() {
    for (std::size_t index = next_++; index < tasks_.size(); index = next_++) prove_one(index);
  }

  void prove_one(std::size_t index) {
    const Task& task = tasks_[index];
    const Algorithm& algorithm = *rows_[task.row];
    Summary& summary = summaries_[task.row];
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
      add(summary, schedule, proof);
      if (task.wants_cost) summary.cost = cost;
    } else if (!summary.failure || index < summary.failed_case) {
      const bool rooted = facts_of(algorithm.collective).has_root;
      summary.failed_case = index;
      summary.failure =
          fmt::format("{} {} of {} ranks{}: {}", name_of(algorithm.collective), schedule.name, task.request.num_ranks,
                      rooted ? fmt::format(", root {}", task.request.root) : std::string(), proof.failure->to_string());
    }
  }

  const std::vector<const Algorithm*>& rows_;
  const std::vector<Task> tasks_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;  // guards summaries_
  std::vector<Summary> summaries_;
};

std::vector<Task> tasks_of(const std::vector<const Algorithm*>& rows, const std::vector<RankRange>& ranges,
                           const CaseFilter& filter) {
  std::vector<Task> tasks;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::size_t of_most = tasks.size();
    std::uint32_t most = 0;
    for (const RankRange& range : ranges) {
      for (std::uint32_t ranks = range.first; ranks <= range.last; ++ranks) {
        const std::size_t before = tasks.size();
        for (Request& request : cases_of(*rows[row], ranks, filter)) tasks.push_back({row, std::move(request)});
        if (ranks < most || tasks.size() == before) continue;
        most = ranks;
        of_most = before;
      }
    }
    if (most > 0) tasks[of_most].wants_cost = true;
  }
  return tasks;
}

Cell exposure_cell(Exposure exposure) {
  return exposure == Exposure::none ? Cell() : Cell(std::string(name_of(exposure)));
}

Cell number_cell(std::uint64_t number) { return static_cast<std::int64_t>(number); }

std::vector<Cell> cells_of(const Algorithm& algorithm, const std::string& ranks, const Summary& summary) {
  const std::string_view verdict = summary.failure ? "wrong" : summary.num_cases == 0 ? "no case" : "proven";
  const std::string parameters = parameters_of(algorithm);
  std::vector<Cell> cells = {std::string(name_of(algorithm.collective)),
                             std::string(algorithm.name),
                             ranks,
                             algorithm.ranks == "any" ? Cell() : Cell(std::string(algorithm.ranks)),
                             parameters.empty() ? Cell() : Cell(parameters),
                             number_cell(summary.num_cases),
                             std::string(verdict)};
  if (summary.failure || summary.num_cases == 0) {
    cells.resize(kNumColumns);
    return cells;
  }
  const Cost& cost = summary.cost;
  const auto blocks = [&](std::uint64_t pieces) {
    return std::round(static_cast<double>(pieces) / cost.num_pieces * 1e4) / 1e4;
  };
  const auto use = [](bool allowed, Exposure exposure) { return allowed ? exposure_cell(exposure) : Cell("no"); };
  cells.emplace_back(std::string(name_of(summary.order)));
  cells.push_back(summary.has_messages ? number_cell(summary.depth) : Cell());
  cells.push_back(summary.has_messages ? number_cell(summary.depth_fused) : Cell());
  cells.push_back(summary.slots == 0 ? Cell() : number_cell(summary.slots));
  cells.push_back(use(summary.allows_out_of_place, summary.out_of_place));
  cells.push_back(use(summary.allows_in_place, summary.in_place));
  cells.push_back(number_cell(cost.most.steps));
  cells.emplace_back(blocks(cost.most.pieces_out()));
  cells.emplace_back(blocks(cost.most.pieces_in()));
  return cells;
}

Exit mutate_rows(const Options& options, const std::vector<const Algorithm*>& rows, std::vector<Task> tasks,
                 const Context& context) {
  std::vector<MutateCase> cases;
  for (Task& task : tasks) cases.push_back({rows[task.row], std::move(task.request)});
  MutateChoice choice = options.mutate;
  choice.with_random_schedules = options.choice.algorithm.empty() && options.choice.collective.empty();
  return mutate_cases(cases, choice, options.output, context);
}

Exit run(const Options& options, const Context& context) {
  if (options.all && (!options.choice.algorithm.empty() || !options.choice.collective.empty())) {
    context.error << "tutti prove: --all is every algorithm; it does not go with --algorithm or --collective\n";
    return Exit::misused;
  }
  const Result<std::vector<RankRange>> ranges = parse_ranks(options.ranks);
  if (!ranges.ok()) {
    context.error << "tutti prove: " << ranges.status().to_string() << "\n";
    return Exit::misused;
  }
  const Result<CaseFilter> filter = parse_case_options(options.cases);
  if (!filter.ok()) {
    context.error << "tutti prove: " << filter.status().to_string() << "\n";
    return Exit::misused;
  }
  const std::vector<const Algorithm*> rows = chosen(options.choice, "prove", context);
  if (rows.empty()) return Exit::misused;
  if (options.mutate.count > 0) return mutate_rows(options, rows, tasks_of(rows, *ranges, *filter), context);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Summary> summaries = Provers(rows, tasks_of(rows, *ranges, *filter)).run();
  // Steps and blocks are of the rank that has most, in the first case of the most ranks; blocks are sizes of a block.
  Table table({{"collective"},
               {"algorithm"},
               {"ranks"},
               {"only"},
               {"parameters"},
               {"cases"},
               {"verdict"},
               {"order"},
               {"depth"},
               {"depth_fused"},
               {"slots"},
               {"out_of_place"},
               {"in_place"},
               {"steps"},
               {"blocks_out"},
               {"blocks_in"}});
  std::size_t num_cases = 0;
  bool wrong = false;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    table.add_row(cells_of(*rows[row], options.ranks, summaries[row]));
    num_cases += summaries[row].num_cases;
    if (!summaries[row].failure) continue;
    wrong = true;
    context.error << *summaries[row].failure << "\n";
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const Status written = write_output(render(table, options.output.format), options.output, context);
  if (!written.ok()) {
    context.error << "tutti prove: " << written.to_string() << "\n";
    return Exit::misused;
  }
  context.error << fmt::format("{} algorithm{}, {} case{} in {:.2f} s\n", rows.size(), rows.size() == 1 ? "" : "s",
                               num_cases, num_cases == 1 ? "" : "s", taken.count());
  if (num_cases == 0) context.error << "tutti prove: there is no such case\n";
  return wrong ? Exit::found_wrong : num_cases == 0 ? Exit::misused : Exit::done;
}

Run define(CLI::App& app) {
  const auto options = std::make_shared<Options>();  // shared with the closure, which std::function copies
  app.add_flag("--all", options->all, "Every algorithm of every collective (as without any choice)");
  add_choice_options(app, options->choice);
  app.add_option("--ranks", options->ranks, "Numbers of ranks: 4, 2-33, or 2,3,5-9")
      ->type_name("LIST")
      ->capture_default_str();
  add_case_options(app, options->cases);
  app.add_option("--mutate", options->mutate.count, "Prove so many mutants instead, and run those that are accepted")
      ->type_name("N");
  app.add_option("--seed", options->mutate.seed, "Which mutants")->type_name("N")->needs("--mutate");
  CLI::Option* files = app.add_option("--file", options->files,
                                      "Schedules that someone has written down instead (docs/formats/schedule.md)")
                           ->type_name("PATH");
  for (CLI::Option* other : app.get_options())
    if (other != files && other != app.get_help_ptr()) files->excludes(other);
  add_output_options(app, options->output);
  return [options](const Context& context) {
    return options->files.empty() ? run(*options, context) : prove_files(options->files, options->output, context);
  };
}

}  // namespace

Command prove_command() {
  return {.name = "prove",
          .summary = "Show that algorithms do what they should, or tell the story of how they do not",
          .examples =
              "tutti prove\n"
              "tutti prove --algorithm ring --collective all_reduce --ranks 2-33\n"
              "tutti prove --all --ranks 1-33\n"
              "tutti prove --algorithm knomial --collective broadcast --ranks 7 --radix 3 --root 2\n"
              "tutti prove --ranks 2,3,5-9 --json\n"
              "tutti prove --file my_all_reduce.sched\n"
              "tutti prove --all --ranks 2-9 --mutate 20000 --seed 1",
          .define = define};
}

}  // namespace tutti::cli
