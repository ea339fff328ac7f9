// SPDX-License-Identifier: Apache-2.0
#include "bench/views/views.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "bench/process/command.hpp"
#include "bench/results/cells.hpp"

namespace tutti::harness {

namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Cell to_cell(const Value& value) {
  if (value.is_integer()) return value.integer();
  if (value.is_number()) return value.number();
  return value.word();
}

Cell half_width(const Summary& summary) {
  if (!summary.interval || summary.median <= 0) return {};
  return figure((summary.interval->high - summary.interval->low) / 2 / summary.median * 100);
}

// Whole numbers as they are.
Cell figure_or_whole(double value) {
  constexpr double kMostExact = 9007199254740992.0;
  if (value == std::floor(value) && std::fabs(value) < kMostExact) return static_cast<std::int64_t>(value);
  return figure(value);
}

std::string check_of(const Row& row) {
  if (row.outcome == Outcome::wrong) return "wrong";
  if (row.outcome != Outcome::ok) return std::string(name_of(row.outcome));
  return row.is_checked ? "ok" : "unchecked";
}

// Columns that every row has, behind those that tell it apart, and which of them yield where lines are too long.
struct Figure {
  std::string_view name;
  int yields = 0;
};
constexpr auto kFigures = std::to_array<Figure>({{"time_us"},
                                                 {"plus_minus_percent", 1},
                                                 {"min_us", 5},
                                                 {"mean_us", 6},
                                                 {"p99_us", 2},
                                                 {"samples", 7},
                                                 {"launches", 4},
                                                 {"bytes_gbs", 3},
                                                 {"algbw_gbs", 3},
                                                 {"busbw_gbs"},
                                                 {"items_per_s"},
                                                 {"gflops"}});
// What tables for people leave out.
constexpr auto kAsides =
    std::to_array<std::string_view>({"low_us", "high_us", "invalid", "sync", "stop", "version", "evidence"});

// By a program that is no worker of the harness.
bool is_timed_by_itself(const Row& row) { return row.sync == Sync::program || row.sync == Sync::wall; }

Cell ranks_of(const Row& row) { return row.num_ranks == 0 ? Cell() : Cell(std::int64_t{row.num_ranks}); }

std::string evidence_of(const Row& row) {
  std::string text;
  for (const auto& [name, evidence] : row.evidence)
    text += fmt::format("{}{} {}: {}", text.empty() ? "" : "; ", name, name_of(evidence.obeyed), evidence.how);
  return text;
}

bool has_times(const Row& row) {
  return !row.samples.empty() && (row.outcome == Outcome::ok || row.outcome == Outcome::wrong);
}

std::vector<Cell> figures_of(const Row& row) {
  if (!has_times(row)) return std::vector<Cell>(kFigures.size());
  const Summary summary = summarize(row);
  const auto rate = [&](std::optional<double> amount) {  // an amount a nanosecond
    return amount ? figure(*amount / summary.median) : Cell();
  };
  const std::optional<double> message = row.message ? std::optional(row.message->bytes) : std::nullopt;
  const std::optional<double> factor = row.message ? bus_factor(row.message->traffic, row.num_ranks) : std::nullopt;
  // An average is neither the least of what it is an average of, nor a mean of several.
  const bool is_average = is_timed_by_itself(row) && row.samples.size() == 1;
  return {micros(summary.median), half_width(summary), is_average ? Cell() : micros(summary.minimum),
          is_average ? Cell() : micros(summary.mean), summary.p99 ? micros(*summary.p99) : Cell(),
          static_cast<std::int64_t>(summary.count),
          row.launches.size() > 1 ? Cell(static_cast<std::int64_t>(row.launches.size())) : Cell(),
          // Bytes a nanosecond are gigabytes a second.
          rate(row.bytes), rate(message), rate(factor ? std::optional(row.message->bytes * *factor) : std::nullopt),
          rate(row.items ? std::optional(*row.items * 1e9) : std::nullopt), rate(row.flops)};
}

std::vector<Cell> asides_of(const Row& row) {
  if (!has_times(row)) return std::vector<Cell>(kAsides.size());
  const std::optional<Interval> interval = summarize(row).interval;
  return {interval ? micros(interval->low) : Cell(),
          interval ? micros(interval->high) : Cell(),
          static_cast<std::int64_t>(row.invalid),
          std::string(name_of(row.sync)),
          std::string(name_of(row.stop)),
          text_or_null(row.version),
          text_or_null(evidence_of(row))};
}

bool is_taken(std::string_view name, std::span<const std::string_view> others) {
  constexpr auto kOthers = std::to_array<std::string_view>({"bench", "peer", "ranks", "check", "ran", "note"});
  const auto has = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  const auto is_figure = [&](const Figure& figure) { return figure.name == name; };
  return std::any_of(kFigures.begin(), kFigures.end(), is_figure) || has(kAsides) || has(kOthers) || has(others);
}

// Behind these, with the prefix where they or later ones have the name already.
void add_named(std::vector<Column>& columns, std::string_view prefix, std::string name,
               std::span<const std::string_view> others = {}) {
  const auto is_there = [&] {
    return std::any_of(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
  };
  while (is_taken(name, others) || is_there()) name = fmt::format("{}.{}", prefix, name);
  columns.push_back({std::move(name)});
}

}  // namespace

std::string Warning::text() const { return percent ? fmt::format("{} {}", *percent, words) : words; }

std::vector<Warning> warnings_of(const Row& row) {
  std::vector<Warning> all;
  if (!row.note.empty()) all.push_back({row.note});
  if (row.shares_cores) all.push_back({"more ranks than cores"});
  const std::uint64_t iterations = row.invalid + row.samples.size();
  if (row.invalid * 20 > iterations)
    all.push_back({"% of iterations begun late",
                   std::llrint(100.0 * static_cast<double>(row.invalid) / static_cast<double>(iterations))});
  if (has_times(row)) {
    const Summary summary = summarize(row);
    // Of a few, a single one would be a tenth.
    constexpr std::uint64_t kLeastForOutliers = 20;
    if (summary.count >= kLeastForOutliers && summary.outliers * 10 > summary.count)
      all.push_back({"% outliers", static_cast<std::int64_t>(summary.outliers * 100 / summary.count)});
  }
  for (const auto& [name, evidence] : row.evidence)
    if (evidence.obeyed != State::Obeyed::confirmed)
      all.push_back({fmt::format("{} {}", name, name_of(evidence.obeyed))});
  return all;
}

std::string warnings(const Row& row) {
  std::string text;
  for (const Warning& each : warnings_of(row)) text += (text.empty() ? "" : "; ") + each.text();
  return text;
}

std::string remarks(const Row& row) {
  std::string text = warnings(row);
  const auto add = [&](std::string_view words) { text += fmt::format("{}{}", text.empty() ? "" : "; ", words); };
  if (row.sync == Sync::wall) add("wall time of the program");
  if (row.sync == Sync::virtual_time && has_times(row)) add("virtual time");
  if (row.sync == Sync::program && has_times(row))
    add(row.samples.size() == 1 ? "the program's own average" : "the program's own averages, one a launch");
  if (has_times(row) && row.stop != Stop::precise && row.stop != Stop::not_yet)
    add(row.stop == Stop::time ? "budget spent" : "most samples taken");
  return text;
}

View View::of(const std::vector<Row>& rows) {
  View view;
  for (const Row& row : rows) {
    for (const Setting& setting : row.settings) add_once(view.variables_, setting.name);
    for (const auto& [name, value] : row.point.values) add_once(view.axes_, name);
    for (const auto& [name, value] : row.counters) add_once(view.counters_, name);
    view.is_of_programs_ = view.is_of_programs_ || is_timed_by_itself(row);
  }
  return view;
}

void View::leave_out_competitors(const std::vector<Competitor>& competitors) {
  has_peer_ = false;
  const bool by_algorithm = std::any_of(competitors.begin(), competitors.end(),
                                        [](const Competitor& competitor) { return !competitor.algorithm.empty(); });
  if (by_algorithm) std::erase(axes_, kAlgorithmAxis);
  std::erase_if(variables_, [&](const std::string& name) {
    const auto setting_of = [&](const Competitor& competitor) -> std::optional<Setting> {
      const auto found = std::find_if(competitor.settings.begin(), competitor.settings.end(),
                                      [&](const Setting& setting) { return setting.name == name; });
      return found == competitor.settings.end() ? std::nullopt : std::optional(*found);
    };
    return std::any_of(competitors.begin(), competitors.end(), [&](const Competitor& competitor) {
      return setting_of(competitor) != setting_of(competitors.front());
    });
  });
}

std::vector<Column> View::identity_columns(std::span<const std::string_view> others) const {
  std::vector<Column> all = {{"bench"}};
  if (has_peer_) all.push_back({"peer"});
  all.push_back({"ranks"});
  for (const std::string& name : variables_) add_named(all, "env", name, others);
  for (const std::string& name : axes_) add_named(all, "axis", name, others);
  return all;
}

std::vector<Cell> View::identity_cells(const Row& row) const {
  std::vector<Cell> cells = {row.bench};
  if (has_peer_) cells.emplace_back(row.peer);
  cells.push_back(ranks_of(row));
  for (const std::string& name : variables_) {
    const auto found =
        std::find_if(row.settings.begin(), row.settings.end(), [&](const Setting& each) { return each.name == name; });
    // A variable that does not concern the peer is not there, which is another thing than unset.
    cells.push_back(found == row.settings.end() ? Cell() : Cell(VariableCell{found->value}));
  }
  for (const std::string& name : axes_) {
    const Value* value = row.point.find(name);
    cells.push_back(value == nullptr ? Cell() : to_cell(*value));
  }
  return cells;
}

std::vector<Column> View::columns() const {
  constexpr int kCountersYield = 8;
  constexpr int kRan = 9;
  std::vector<Column> all = identity_columns();
  for (Column& column : all) column.stands_once = true;
  for (const Figure& figure : kFigures) {
    all.push_back(measured(std::string(figure.name)));
    all.back().yields = figure.yields;
  }
  for (const std::string& name : counters_) {
    add_named(all, "counter", name);
    all.back().digits = kMeasuredDigits;
    all.back().yields = kCountersYield;
  }
  all.push_back({.name = "check", .stands_once = true});
  all.push_back({.name = "ran", .is_aside = is_of_programs_, .stands_once = true, .yields = kRan});
  for (const std::string_view name : kAsides)
    all.push_back({.name = std::string(name), .wrap_at = 0, .is_aside = true, .digits = kMeasuredDigits});
  all.push_back({.name = "note", .wrap_at = 60, .is_note = true});
  return all;
}

std::vector<Cell> View::cells(const Row& row) const {
  std::vector<Cell> cells = identity_cells(row);
  const auto add = [&](const std::vector<Cell>& more) { cells.insert(cells.end(), more.begin(), more.end()); };
  add(figures_of(row));
  for (const std::string& name : counters_) {
    const auto found = row.counters.find(name);
    cells.push_back(found == row.counters.end() ? Cell() : figure_or_whole(found->second));
  }
  cells.emplace_back(check_of(row));
  cells.push_back(text_or_null(row.ran));
  add(asides_of(row));
  cells.push_back(text_or_null(remarks(row)));
  return cells;
}

Table table_of(const std::vector<Row>& rows) {
  const std::vector<Row> joined = join_launches(rows);
  const View view = View::of(joined);
  Table table(view.columns());
  for (const Row& row : joined) table.add_row(view.cells(row));
  return table;
}

std::vector<std::string> labels_of(const std::vector<Competitor>& competitors) {
  // Settings of one program that nobody has named are told apart without a word for it.
  const bool is_unnamed =
      competitors.size() > 1 && std::all_of(competitors.begin(), competitors.end(),
                                            [](const Competitor& each) { return each.peer == kUnnamedProgram; });
  std::vector<std::string> labels;
  for (const Competitor& competitor : competitors) {
    std::string label = competitor.peer;
    const bool is_one_of_several = std::any_of(competitors.begin(), competitors.end(), [&](const Competitor& other) {
      return other.algorithm != competitor.algorithm;
    });
    if (is_one_of_several) label += " " + competitor.algorithm;
    for (const Setting& setting : competitor.settings) {
      const bool differs = std::any_of(competitors.begin(), competitors.end(), [&](const Competitor& other) {
        return std::find(other.settings.begin(), other.settings.end(), setting) == other.settings.end();
      });
      if (differs) label += fmt::format(" {}={}", setting.name, shown(setting.value));
    }
    labels.push_back(is_unnamed ? std::string(trim(std::string_view(label).substr(kUnnamedProgram.size()))) : label);
  }
  return labels;
}

std::string in_a_line(const Row& row) {
  std::string text = fmt::format("{} {}", row.bench, row.peer);
  if (row.num_ranks > 0) text += ", " + counted(row.num_ranks, "rank");
  for (const Setting& setting : row.settings) text += fmt::format(", {}={}", setting.name, shown(setting.value));
  if (!row.point.values.empty()) text += ", " + to_string(row.point);
  if (row.samples.empty() || row.outcome == Outcome::error || row.outcome == Outcome::skipped)
    return printable(text + fmt::format(": {}: {}", name_of(row.outcome), row.note));
  const Summary summary = summarize(row);
  text += fmt::format(": {:.4g} us", summary.median / 1000);
  if (row.outcome == Outcome::wrong) text += fmt::format(", WRONG: {}", row.note);
  return printable(text);
}

}  // namespace tutti::harness
