// SPDX-License-Identifier: Apache-2.0
// How much slower dispatch rules are than the best way of each line of vLLM's published tables (row D4).
#include "tune/regret.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/published.hpp"
#include "cli/milestone/shared/simulated.hpp"
#include "cli/tune/regret/rank_predictions.hpp"
#include "cli/tune/regret/regret_output.hpp"
#include "cli/tune/regret/rule_input.hpp"
#include "cli/tune/results/results_input.hpp"
#include "simulate/references/blind.hpp"
#include "tune/leave_out.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kJudged = "vllm_all_reduce";
constexpr std::string_view kBlindRule = "table of the blind model";

std::vector<Column> regret_columns() {
  return {{"rule"},
          {"machine"},
          {"ranks"},
          {"bytes"},
          {"takes"},
          time_column("time_us"),
          {"best"},
          time_column("best_us"),
          {.name = "regret_percent", .digits = kShareDigits},
          {"note"}};
}

struct Judged {
  simulate::References references;
  std::vector<tune::MachineCell> cells;
};
Result<Judged> judged() {
  Judged judged;
  TUTTI_TRY_ASSIGN(judged.references, published(kJudged));
  TUTTI_TRY_ASSIGN(const ReadResults results, results_of_references(judged.references, std::string(kJudged)));
  std::size_t repeated = 0;
  judged.cells = tune::cells_of(results.timings, repeated);
  return judged;
}

// What a contestant takes in each cell.
using Taking = std::function<Result<std::vector<tune::Taken>>(const Judged& judged)>;

Taking by_rule(std::string rule) {
  return [rule = std::move(rule)](const Judged& judged) -> Result<std::vector<tune::Taken>> {
    TUTTI_TRY_ASSIGN(const tune::Rule read, read_rule(rule));
    return tune::take_all(read, judged.cells);
  };
}

Result<std::vector<tune::Taken>> by_other_sizes(const Judged& judged) { return tune::without_sizes(judged.cells, {}); }

// Fits the model without each number of ranks in turn: some seconds.
Result<std::vector<tune::Taken>> by_blind_model(const Judged& judged) {
  TUTTI_TRY_ASSIGN(const std::vector<simulate::BlindTime> times,
                   simulate::predict_left_out(judged.references, simulate::LeftOut::ranks, [](const std::string&) {}));
  return tune::by_predictions(judged.cells, predicted_cells(judged.references, times, simulate::Predictor::simulated),
                              {});
}

Result<std::vector<PartRow>> rows_of_rule(const std::string& name, const Taking& taking) {
  TUTTI_TRY_ASSIGN(const Judged all, judged());
  TUTTI_TRY_ASSIGN(std::vector<tune::Taken> taken, taking(all));
  const Contestant contestant{name, std::move(taken)};
  const Table table = table_of_regrets(all.cells, std::span(&contestant, 1), {});
  std::vector<PartRow> rows;
  for (const std::vector<Cell>& cells : table.rows()) {
    PartRow& row = rows.emplace_back();
    for (const Column& column : regret_columns()) {
      const auto found = std::find_if(table.columns().begin(), table.columns().end(),
                                      [&](const Column& each) { return each.name == column.name; });
      row.push_back(cells[static_cast<std::size_t>(found - table.columns().begin())]);
    }
  }
  return rows;
}

Result<std::vector<PartCase>> regret_cases(const PartWorld& world) {
  std::vector<PartCase> cases;
  const auto add = [&](std::string name, double seconds, Taking taking) {
    cases.push_back({.name = name, .seconds = seconds, .make = [name, taking = std::move(taking)] {
                       return rows_of_rule(name, taking);
                     }});
  };
  add("vllm", 0.1, by_rule("vllm"));
  add("tensorrt_llm", 0.1, by_rule("tensorrt_llm"));
  add("always pynccl", 0.1, by_rule("always:pynccl"));
  add("table of the other sizes", 0.1, by_other_sizes);
  if (world.is_full) add(std::string(kBlindRule), 20, by_blind_model);
  return cases;
}

struct RuleRegret {
  std::string rule;
  std::size_t lines = 0;
  std::size_t best = 0;
  double mean = 0;
  double greatest = 0;
};
std::vector<RuleRegret> regrets_of(const PartRows& rows) {
  std::vector<RuleRegret> regrets;
  for (const std::string& rule : rows.texts("rule")) {
    RuleRegret& regret = regrets.emplace_back();
    regret.rule = rule;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::optional<double> percent = rows.number(row, "regret_percent");
      if (rows.text(row, "rule") != rule || !percent) continue;
      ++regret.lines;
      regret.best += *percent <= 0 ? 1 : 0;
      regret.mean += *percent;
      regret.greatest = std::max(regret.greatest, *percent);
    }
    if (regret.lines > 0) regret.mean /= static_cast<double>(regret.lines);
  }
  return regrets;
}

// What rules are, where their names do not say it.
struct RuleInWords {
  std::string_view rule;
  std::string_view words;
};
constexpr std::array<RuleInWords, 4> kRulesInWords = {
    {{"vllm", "the library's choice, from its sources"},
     {"always pynccl", "NCCL at every size"},
     {"table of the other sizes", "Tutti's table, made without the sizes that it is judged by"},
     {kBlindRule, "Tutti's table of simulated times, by a model fitted without the number of ranks it is judged by"}}};

std::string rules_in_words(const std::vector<RuleRegret>& regrets) {
  std::string words;
  for (const RuleInWords& each : kRulesInWords)
    if (std::any_of(regrets.begin(), regrets.end(), [&](const RuleRegret& one) { return one.rule == each.rule; }))
      words += fmt::format("; {}: {}", each.rule, each.words);
  return words;
}

PartFigure figure_of_regrets(const std::vector<RuleRegret>& regrets, const simulate::References& references) {
  report::BarChart chart{.title = "Regret of dispatch rules on vLLM's published tables",
                         .remark = fmt::format("how much slower the way that a rule chooses is than the best published "
                                               "way{}. Published: {}",
                                               rules_in_words(regrets), cited(references)),
                         .kinds = {"regret"},
                         .columns = 2,
                         .panels = {}};
  for (const bool is_mean : {true, false}) {
    report::BarPanel panel{.title = is_mean ? "mean" : "greatest", .y_name = "regret, percent", .groups = {}};
    for (const RuleRegret& each : regrets)
      panel.groups.push_back({.name = each.rule, .bars = {{.value = is_mean ? each.mean : each.greatest}}});
    chart.panels.push_back(std::move(panel));
  }
  return {.file = "regret", .title = chart.title, .bars = std::move(chart)};
}

Result<PartShown> show_regret(const PartRows& rows) {
  PartShown shown;
  const std::vector<RuleRegret> regrets = regrets_of(rows);
  Table table({{"rule"},
               {"lines"},
               {"best_in"},
               {.name = "mean_percent", .digits = kShareDigits},
               {.name = "greatest_percent", .digits = kShareDigits}});
  for (const RuleRegret& each : regrets)
    table.add_row({each.rule, whole_cell(each.lines), whole_cell(each.best), each.mean, each.greatest});
  const auto find = [&](std::string_view rule) {
    return std::find_if(regrets.begin(), regrets.end(), [&](const RuleRegret& each) { return each.rule == rule; });
  };
  const auto vllm = find("vllm");
  const auto tuned = find("table of the other sizes");
  if (vllm != regrets.end() && tuned != regrets.end())
    shown.answer = {
        fmt::format("vLLM's own rule has a mean regret of {:.1f} % and a greatest of {:.0f} %; a table made "
                    "from every other size has {:.1f} % and {:.0f} % on the sizes that it has not seen.",
                    vllm->mean, vllm->greatest, tuned->mean, tuned->greatest)};
  TUTTI_TRY_ASSIGN(const simulate::References references, published(kJudged));
  shown.figures.push_back(figure_of_regrets(regrets, references));
  shown.tables.push_back(
      {.file = "regret_summary", .table = {.title = "Regret by rule", .table = std::move(table)}, .is_data = true});
  return shown;
}

}  // namespace

Part regret_part() {
  return {.name = "regret",
          .title = "Regret of dispatch rules",
          .about = "how much slower dispatch rules are than the best published way",
          .columns = regret_columns(),
          .cases = regret_cases,
          .show = show_regret};
}

}  // namespace tutti::cli
