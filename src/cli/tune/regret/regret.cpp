// SPDX-License-Identifier: Apache-2.0
// `tutti regret`: how much slower a dispatch rule is than the best known way, on results.
#include "tune/regret.hpp"

#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/tune/regret/rank_predictions.hpp"
#include "cli/tune/regret/regret_output.hpp"
#include "cli/tune/regret/rule_input.hpp"
#include "cli/tune/results/results_input.hpp"
#include "cli/tune/tune_commands.hpp"
#include "tune/leave_out.hpp"

namespace tutti::cli {

namespace {

using tune::MachineCell;

struct RegretArguments {
  std::vector<std::string> words;  // rules, and then the results
  std::string leave_out;
  std::string peer;
  std::string store;
  OutputOptions output;
};

// What there is to judge, and whom.
struct RegretCase {
  ReadResults results;
  std::vector<MachineCell> cells;
  std::vector<Contestant> contestants;
  std::vector<std::string> left_out;  // with what each cell is left out
  std::string remark;                 // for people, at the end
};

Result<std::vector<tune::Rule>> read_rules(const RegretArguments& options) {
  std::vector<tune::Rule> rules;
  for (std::size_t i = 0; i + 1 < options.words.size(); ++i) {
    TUTTI_TRY_ASSIGN(tune::Rule rule, read_rule(options.words[i]));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Status read_cells(const RegretArguments& options, const std::vector<tune::Rule>& rules, RegretCase& made,
                  const Context& context) {
  TUTTI_TRY_ASSIGN(made.results, read_results(options.words.back(), options.store, context.environment));
  TUTTI_TRY(keep_peer(made.results, options.peer, rules.empty() ? "" : peer_of(rules.front())));
  std::size_t repeated = 0;
  made.cells = tune::cells_of(made.results.timings, repeated);
  context.error << fmt::format("read {}, {}\n", made.results.what, counted(made.cells.size(), "cell"));
  for (const std::string& each : made.results.left_out) context.error << fmt::format("left out {}\n", each);
  if (repeated > 0)
    context.error << fmt::format("left out {}: if a way has several times in a cell, the median counts\n",
                                 counted(repeated, "time"));
  if (made.cells.empty())
    return wrong_argument(fmt::format("{} has no times of ways", in_quotes(options.words.back())));
  return {};
}

void leave_out_sizes(RegretCase& made) {
  made.contestants.push_back({"table of the other sizes", tune::without_sizes(made.cells, {})});
  for (const std::size_t fold : tune::folds_of_sizes(made.cells))
    made.left_out.emplace_back(fold == 0 ? "even sizes" : "odd sizes");
}

std::string blind_error(const std::vector<simulate::BlindTime>& times, simulate::Predictor predictor) {
  return fmt::format("{:.1f} %", simulate::score_of(times, predictor).median_error * 100);
}

// Where the results can be simulated, tables of predicted times; beside them the nearest number of ranks.
Status leave_out_ranks(RegretCase& made, const Context& context) {
  for (const MachineCell& cell : made.cells) made.left_out.push_back(counted(cell.cell.key.ranks, "rank"));
  if (made.results.references && !made.results.references->fits.empty()) {
    const simulate::References& references = *made.results.references;
    TUTTI_TRY_ASSIGN(const std::vector<simulate::BlindTime> times,
                     simulate::predict_left_out(references, simulate::LeftOut::ranks, [&](const std::string& fold) {
                       context.error << "fitting without " << fold << std::endl;
                     }));
    const auto add = [&](const char* name, simulate::Predictor predictor) {
      const std::vector<MachineCell> predicted = predicted_cells(references, times, predictor);
      made.contestants.push_back({name, tune::by_predictions(made.cells, predicted, {})});
    };
    add("table of simulated times", simulate::Predictor::simulated);
    add("table of corrected simulated times", simulate::Predictor::corrected);
    made.remark = fmt::format(
        "median error of the {} that were left out: simulated {}, corrected {}, taken from the nearest number of "
        "ranks {}\n",
        counted(times.size(), "time"), blind_error(times, simulate::Predictor::simulated),
        blind_error(times, simulate::Predictor::corrected), blind_error(times, simulate::Predictor::nearest));
  } else {
    made.remark = "nothing is predicted: only references with fits say how they are simulated\n";
  }
  made.contestants.push_back({"table of the nearest number of ranks", tune::without_ranks(made.cells, {})});
  return {};
}

// Nobody has a regret: that is no answer.
Status check_judged(const RegretCase& made) {
  std::string lacks;
  for (const Contestant& contestant : made.contestants) {
    if (tune::summarize(contestant.taken).judged > 0) return {};
    lacks += (lacks.empty() ? "" : "; ") + lacks_of(contestant);
  }
  std::set<std::string> ways;
  std::set<std::string> machines;
  for (const MachineCell& cell : made.cells) {
    if (!cell.machine.empty()) machines.insert(printable(cell.machine));
    for (const tune::WayTime& time : cell.cell.times) ways.insert(printable(time.way.to_string()));
  }
  return wrong_argument(fmt::format("no cell can be judged; {}; the results have times of {}{}", lacks,
                                    fmt::join(ways, ", "),
                                    machines.empty() ? "" : fmt::format(" on {}", fmt::join(machines, ", "))));
}

std::string judgement_of(const RegretCase& made, const OutputOptions& output, const Context& context) {
  const Table cells = table_of_regrets(made.cells, made.contestants, made.left_out);
  if (output.format != Format::table) return rendered(cells, output);
  std::string answer;
  if (made.contestants.size() == 1 || output.is_wide) answer += narrowed(cells, output, context) + "\n";
  answer += narrowed(summary_of_regrets(made.cells, made.contestants), output, context);
  for (const Contestant& contestant : made.contestants)
    if (const std::string lacks = lacks_of(contestant); !lacks.empty()) answer += lacks + "\n";
  return answer + made.remark;
}

Status regret(const RegretArguments& options, const Context& context) {
  TUTTI_TRY(check_output(options.output));
  const bool leaves_out = !options.leave_out.empty();
  const bool by_ranks = same_name(options.leave_out, "ranks");
  if (leaves_out && !by_ranks && !same_name(options.leave_out, "sizes"))
    return wrong_argument(fmt::format("--leave-out: {} is not ranks or sizes", in_quotes(options.leave_out)));
  if (options.words.size() < (leaves_out ? 1U : 2U))
    return wrong_argument("give a rule and results, such as tutti regret vllm vllm_all_reduce");
  TUTTI_TRY_ASSIGN(const std::vector<tune::Rule> rules, read_rules(options));
  RegretCase made;
  TUTTI_TRY(read_cells(options, rules, made, context));
  if (leaves_out && !by_ranks) leave_out_sizes(made);
  if (by_ranks) TUTTI_TRY(leave_out_ranks(made, context));
  for (const tune::Rule& rule : rules) made.contestants.push_back({rule.name, tune::take_all(rule, made.cells)});
  TUTTI_TRY(check_judged(made));
  return write_output(judgement_of(made, options.output, context), options.output, context);
}

Run define_regret(CLI::App& app) {
  const auto options = std::make_shared<RegretArguments>();
  app.add_option(
         "rules", options->words,
         "A rule or several: files of decision tables (commas between those of several machines), "
         "always:NAME for one way, or a rule that comes with Tutti (data/rules). The last word is the results: a "
         "run of the store by its number or name, or last; a CSV file; or a file of references, or the name of one "
         "that comes with Tutti")
      ->type_name("TABLE RESULTS")
      ->required();
  app.add_option("--leave-out", options->leave_out,
                 "How good tables are where nothing was measured: makes them without one size in two, or without each "
                 "number of ranks, and judges them there; rules are beside them and need not be given")
      ->type_name("ranks|sizes");
  app.add_option("--peer", options->peer, "Of results with several peers: whose ways count [the table's]")
      ->type_name("PEER");
  app.add_option("--store", options->store, "The file that keeps results")->type_name("FILE");
  add_output_options(app, options->output);
  add_wide_option(app, options->output);
  return [options](const Context& context) {
    const Status done = regret(*options, context);
    return done.ok() ? Exit::done : failed(context, "regret", done);
  };
}

}  // namespace

Command regret_command() {
  return {.name = "regret",
          .summary = "How much slower a dispatch rule is than the best known way, on any results",
          .examples =
              "tutti regret vllm vllm_all_reduce\n"
              "tutti regret table.toml always:ring last\n"
              "tutti regret table.toml times.csv --format csv\n"
              "tutti regret vllm vllm_all_reduce --leave-out sizes",
          .define = define_regret};
}

}  // namespace tutti::cli
