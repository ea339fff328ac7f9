// SPDX-License-Identifier: Apache-2.0
// vLLM's published all-reduce times beside the model's, way by way, with the winners of each size (row D4).
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/units.hpp"
#include "bench/measure/statistics.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/published.hpp"
#include "cli/milestone/shared/simulated.hpp"
#include "cli/tune/results/results_input.hpp"
#include "simulate/references/against.hpp"

namespace tutti::cli {

namespace {

constexpr double kMicrosecondsOfAMillisecond = 1000;

using SharedReferences = std::shared_ptr<const simulate::References>;

Result<std::vector<PartRow>> rows_of_series(const SharedReferences& references, const simulate::Series& series) {
  const std::array<const simulate::Series*, 1> only = {&series};
  TUTTI_TRY_ASSIGN(const std::vector<simulate::Compared> compared, simulate::compare(*references, only, nullptr));
  const std::optional<SeriesNames> names = names_of(series);
  std::vector<PartRow> rows;
  for (const simulate::Compared& each : compared)
    rows.push_back({names ? names->machine : series.group, whole_cell(names ? names->ranks : 0),
                    names ? names->way : series.id, whole_cell(each.bytes),
                    each.published * kMicrosecondsOfAMillisecond,
                    each.simulated ? Cell(*each.simulated * kMicrosecondsOfAMillisecond) : Cell(),
                    each.simulated ? Cell(each.error() * 100) : Cell(), std::string(each.best), each.is_left_out});
  return rows;
}

Result<std::vector<PartCase>> vllm_cases(const PartWorld&) {
  TUTTI_TRY_ASSIGN(simulate::References read, published("vllm_all_reduce"));
  const auto references = std::make_shared<const simulate::References>(std::move(read));
  std::vector<PartCase> cases;
  for (const simulate::Series& series : references->series)
    cases.push_back({.name = series.id, .seconds = 0.05, .make = [references, &series] {
                       return rows_of_series(references, series);
                     }});
  return cases;
}

// A published table's line: one machine, number of ranks and size.
struct TableLine {
  std::string machine;
  double ranks = 0;
  double bytes = 0;
  std::vector<std::size_t> rows;  // of each way
};
std::vector<TableLine> lines_of_tables(const PartRows& rows) {
  std::vector<TableLine> lines;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const TableLine line{rows.text(row, "machine"), *rows.number(row, "ranks"), *rows.number(row, "bytes"), {}};
    auto found = std::find_if(lines.begin(), lines.end(), [&](const TableLine& each) {
      return each.machine == line.machine && each.ranks == line.ranks && each.bytes == line.bytes;
    });
    if (found == lines.end()) found = lines.insert(lines.end(), line);
    found->rows.push_back(row);
  }
  return lines;
}

// The row with the least time in that column.
std::optional<std::size_t> winner_of(const PartRows& rows, const TableLine& line, std::string_view column) {
  std::optional<std::size_t> best;
  for (const std::size_t row : line.rows)
    if (rows.number(row, column) && (!best || *rows.number(row, column) < *rows.number(*best, column))) best = row;
  return best;
}

struct Winners {
  Table table{{{"machine"},
               {"ranks"},
               {"bytes"},
               {"published_winner"},
               time_column("published_us"),
               {"model_winner"},
               time_column("its_published_us"),
               time_column("its_simulated_us"),
               {.name = "regret_percent", .digits = kShareDigits}}};
  std::size_t count = 0;
  std::size_t right = 0;  // or within kSameTime of it
  double sum = 0;         // of regrets
  double greatest = 0;
};
Winners winners_of(const PartRows& rows) {
  Winners winners;
  for (const TableLine& line : lines_of_tables(rows)) {
    const auto best = winner_of(rows, line, "published_us");
    const auto model = winner_of(rows, line, "simulated_us");
    if (!best || !model) continue;
    const double published = *rows.number(*best, "published_us");
    const std::optional<double> taken = rows.number(*model, "published_us");
    if (!taken) continue;
    const double regret = *taken / published - 1;
    ++winners.count;
    winners.right += regret <= simulate::kSameTime ? 1 : 0;
    winners.sum += regret;
    winners.greatest = std::max(winners.greatest, regret);
    winners.table.add_row({line.machine, static_cast<std::int64_t>(line.ranks), static_cast<std::int64_t>(line.bytes),
                           rows.text(*best, "way"), published, rows.text(*model, "way"), *taken,
                           *rows.number(*model, "simulated_us"), regret * 100});
  }
  return winners;
}

PartFigure figure_of_tables(const PartRows& rows, const simulate::References& references) {
  report::LineChart chart{
      .title = "vLLM's published all-reduce times and the model's",
      .remark = fmt::format("published: {}; simulated by Tutti's model of the machines", cited(references)),
      .x_name = "bytes",
      .full = "simulated",
      .dashed = "published",
      .panels = {}};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string title =
        fmt::format("{}, {} ranks", rows.text(row, "machine"), rows.number(row, "ranks").value_or(0));
    if (chart.panels.empty() || chart.panels.back().title != title)
      chart.panels.push_back({.title = title, .y_name = "time, us", .lines = {}});
    std::vector<report::Line>& lines = chart.panels.back().lines;
    const std::string way = rows.text(row, "way");
    const double bytes = *rows.number(row, "bytes");
    for (const bool is_dashed : {false, true}) {
      const std::optional<double> time = rows.number(row, is_dashed ? "published_us" : "simulated_us");
      if (!time) continue;
      auto line = std::find_if(lines.begin(), lines.end(), [&](const report::Line& each) {
        return each.name == way && each.is_dashed == is_dashed;
      });
      if (line == lines.end())
        line = lines.insert(lines.end(), report::Line{.name = way, .points = {}, .is_dashed = is_dashed});
      line->points.push_back({bytes, *time});
    }
  }
  return {.file = "vllm", .title = chart.title, .lines = std::move(chart)};
}

// How wrong simulated times are, in percent: all, or those that the fit did not see.
std::vector<double> errors_of_times(const PartRows& rows, bool only_unseen) {
  std::vector<double> errors;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (const auto error = rows.number(row, "error_percent");
        error && (!only_unseen || rows.is_true(row, "left_out_of_fit")))
      errors.push_back(std::abs(*error));
  return errors;
}

std::string errors_in_words(const std::vector<double>& errors) {
  return fmt::format("the median error is {:.1f} %, the greatest {:.1f} %", harness::median_of(errors),
                     *std::max_element(errors.begin(), errors.end()));
}

Result<PartShown> show_vllm(const PartRows& rows) {
  TUTTI_TRY_ASSIGN(const simulate::References references, published("vllm_all_reduce"));
  PartShown shown;
  Winners winners = winners_of(rows);
  const std::vector<double> errors = errors_of_times(rows, false);
  const std::vector<double> unseen = errors_of_times(rows, true);
  if (winners.count > 0 && !errors.empty())
    shown.answer = {
        fmt::format(
            "The model's fastest way is the published one, or within {:.0f} % of it, in {} of {} lines; its mean "
            "regret is {:.1f} %, the greatest {:.1f} %.",
            simulate::kSameTime * 100, winners.right, winners.count,
            100 * winners.sum / static_cast<double>(winners.count), winners.greatest * 100),
        fmt::format("Of {} times {}.", errors.size(), errors_in_words(errors))};
  if (!unseen.empty() && !shown.answer.empty())
    shown.answer.push_back(fmt::format("The model is fitted to {} of them. Of the other {}, which it has not seen, {}.",
                                       errors.size() - unseen.size(), unseen.size(), errors_in_words(unseen)));
  shown.figures.push_back(figure_of_tables(rows, references));
  shown.tables.push_back(
      {.file = "vllm_winners",
       .table = {.title = "Winners of each line of vLLM's tables", .table = std::move(winners.table)},
       .is_data = true});
  return shown;
}

}  // namespace

Part vllm_part() {
  return {.name = "vllm",
          .title = "vLLM's published tables",
          .about = "published times of five ways on H100 and B200 nodes beside the model's",
          .columns = {{"machine"},
                      {"ranks"},
                      {"way"},
                      {"bytes"},
                      time_column("published_us"),
                      time_column("simulated_us"),
                      {.name = "error_percent", .digits = kShareDigits},
                      {"algorithm"},
                      {"left_out_of_fit"}},
          .numbers = {"ranks", "bytes"},
          .cases = vllm_cases,
          .show = show_vllm};
}

}  // namespace tutti::cli
