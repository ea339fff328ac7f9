// SPDX-License-Identifier: Apache-2.0
#include "bench/results/comparison_by.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/results/cells.hpp"
#include "bench/views/case_names.hpp"
#include "bench/views/comparison_notes.hpp"
#include "bench/views/comparison_words.hpp"

namespace tutti::harness {

namespace {

// What is known of one competitor and one value of the column.
struct InShort {
  Cell value;
  std::size_t competitor = 0;
  std::int64_t compared = 0;
  std::int64_t missing = 0;
  std::vector<double> ratios;  // that are of times; above 1, the competitor is faster than the first
  std::map<Verdict, std::int64_t> verdicts;
  std::vector<std::size_t> slower;  // cases in which the competitor is
  std::vector<std::size_t> faster;

  [[nodiscard]] std::int64_t count(Verdict verdict) const {
    const auto found = verdicts.find(verdict);
    return found == verdicts.end() ? 0 : found->second;
  }
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double ratio : ratios) sum += std::log(ratio);
    return std::exp(sum / static_cast<double>(ratios.size()));
  }
};

struct Short {
  std::string column;
  std::size_t by = 0;  // its place
  Table identities;    // of cases
  std::vector<InShort> lines;
};

// The columns in which cases differ, but for one.
std::vector<std::size_t> other_columns(const Table& identities, std::size_t but) {
  std::vector<std::size_t> others;
  for (std::size_t column = 0; column < identities.columns().size(); ++column) {
    const bool varies = std::any_of(identities.rows().begin(), identities.rows().end(),
                                    [&](const auto& row) { return row[column] != identities.rows().front()[column]; });
    if (column != but && varies) others.push_back(column);
  }
  return others;
}

// "bytes=1024 root=0".
std::string words_for(const Table& identities, std::size_t row, const std::vector<std::size_t>& columns) {
  std::string text;
  for (const std::size_t column : columns)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", identities.columns()[column].name,
                        text_of(identities.rows()[row][column]));
  return text.empty() ? "all" : printable(text);
}

Cell percent(double ratio) { return figure((ratio - 1) * 100); }

std::vector<Cell> cells_of(const InShort& one) {
  std::vector<Cell> cells = {one.compared};
  if (one.ratios.empty()) {
    cells.resize(cells.size() + 3);
  } else {
    const auto [least, greatest] = std::minmax_element(one.ratios.begin(), one.ratios.end());
    cells.push_back(percent(one.mean()));
    cells.push_back(percent(*least));
    cells.push_back(percent(*greatest));
  }
  for (const Verdict verdict : {Verdict::faster, Verdict::same, Verdict::undecided, Verdict::slower})
    cells.emplace_back(one.count(verdict));
  cells.emplace_back(one.missing);
  return cells;
}

InShort in_short_of(const Comparison& comparison, const std::vector<std::size_t>& numbers, const Cell& value,
                    std::size_t competitor) {
  InShort in_short;
  in_short.value = value;
  in_short.competitor = competitor;
  for (const std::size_t number : numbers) {
    const std::optional<Ratio> ratio = comparison.compare(comparison.cases[number], competitor, 0);
    if (!ratio) {
      ++in_short.missing;
      continue;
    }
    ++in_short.compared;
    ++in_short.verdicts[ratio->verdict];
    if (ratio->ratio > 0 && std::isfinite(ratio->ratio)) in_short.ratios.push_back(ratio->ratio);
    if (ratio->verdict == Verdict::slower) in_short.slower.push_back(number);
    if (ratio->verdict == Verdict::faster) in_short.faster.push_back(number);
  }
  return in_short;
}

Result<Short> short_of(const Comparison& comparison, std::string_view column) {
  Table identities(comparison.view.identity_columns());
  std::string known;
  for (const Column& each : identities.columns()) known += (known.empty() ? "" : ", ") + each.name;
  const auto named = std::find_if(identities.columns().begin(), identities.columns().end(), [&](const Column& each) {
    // The axis of this column has another name.
    return each.name == column || (each.name == "ranks" && column == "num_ranks");
  });
  if (named == identities.columns().end())
    return Status(Code::invalid_argument,
                  fmt::format("--by is {}; what tells cases apart is {}", in_quotes(column), printable(known)));
  Short all{.column = named->name,
            .by = static_cast<std::size_t>(named - identities.columns().begin()),
            .identities = std::move(identities),
            .lines = {}};
  std::vector<std::pair<Cell, std::vector<std::size_t>>> values;  // with their cases
  for (std::size_t number = 0; number < comparison.cases.size(); ++number) {
    std::vector<Cell> cells = comparison.view.identity_cells(comparison.cases[number].any());
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& each) { return each.first == cells[all.by]; });
    if (found == values.end()) {
      values.emplace_back(cells[all.by], std::vector<std::size_t>{number});
    } else {
      found->second.push_back(number);
    }
    all.identities.add_row(std::move(cells));
  }
  for (const auto& [value, numbers] : values)
    for (std::size_t each = 1; each < comparison.competitors.size(); ++each)
      all.lines.push_back(in_short_of(comparison, numbers, value, each));
  return all;
}

// "0.80× (0.79 to 0.81)": how many times as fast the first is.
std::string first_is(const InShort& one) {
  if (one.ratios.empty()) return "-";
  const auto [least, greatest] = std::minmax_element(one.ratios.begin(), one.ratios.end());
  const std::string low = ratio_text(1 / *greatest);
  const std::string high = ratio_text(1 / *least);
  const std::string mean = ratio_text(1 / one.mean()) + "×";
  return low == high ? mean : fmt::format("{} ({} to {})", mean, low, high);
}

// The verdicts about the first: what the others are to it, turned around.
struct Count {
  std::string_view heading;
  std::int64_t (*of)(const InShort&);
  bool is_always_there;
};
constexpr auto kCounts = std::to_array<Count>({
    {"faster", [](const InShort& one) { return one.count(Verdict::slower); }, true},
    {"same", [](const InShort& one) { return one.count(Verdict::same); }, true},
    {"slower", [](const InShort& one) { return one.count(Verdict::faster); }, true},
    {"undecided", [](const InShort& one) { return one.count(Verdict::undecided); }, false},
    {"missing", [](const InShort& one) { return one.missing; }, false},
});

TextGrid grid_of(const Short& all, const std::vector<std::string>& called) {
  std::vector<Count> counts;
  std::copy_if(kCounts.begin(), kCounts.end(), std::back_inserter(counts), [&](const Count& count) {
    return count.is_always_there ||
           std::any_of(all.lines.begin(), all.lines.end(), [&](const InShort& one) { return count.of(one) > 0; });
  });
  std::vector<GridColumn> columns = {{.right = true}, {}, {.right = true}, {}};
  std::vector<GridCell> headings = {{all.column}, {"other"}, {"cases"}, {called.front() + " is"}};
  for (const Count& count : counts) {
    columns.push_back({.right = true});
    headings.push_back({std::string(count.heading)});
  }
  TextGrid grid(std::move(columns));
  grid.add_row(std::move(headings));
  for (const InShort& one : all.lines) {
    std::vector<GridCell> cells = {{value_text(all.column, one.value)},
                                   {called[one.competitor]},
                                   {fmt::format("{}", one.compared)},
                                   {first_is(one)}};
    for (const Count& count : counts) cells.push_back({fmt::format("{}", count.of(one))});
    grid.add_row(std::move(cells));
  }
  return grid;
}

}  // namespace

Result<Table> table_by(const Comparison& comparison, std::string_view column) {
  constexpr std::size_t kCases = 60;  // characters
  const Result<Short> all = short_of(comparison, column);
  if (!all.ok()) return all.status();
  Table table({{all->column},
               {"competitor"},
               {"cases"},
               measured("mean_percent"),
               measured("least_percent"),
               measured("greatest_percent"),
               {"faster"},
               {"same"},
               {"undecided"},
               {"slower"},
               {"missing"},
               {"slower_at", kCases}});
  const std::vector<std::size_t> others = other_columns(all->identities, all->by);
  for (const InShort& one : all->lines) {
    std::string slower;
    for (const std::size_t number : one.slower)
      slower += (slower.empty() ? "" : ", ") + words_for(all->identities, number, others);
    std::vector<Cell> cells = {one.value, comparison.competitors[one.competitor]};
    const std::vector<Cell> figures = cells_of(one);
    cells.insert(cells.end(), figures.begin(), figures.end());
    cells.push_back(text_or_null(slower));
    table.add_row(std::move(cells));
  }
  return table;
}

Result<std::string> text_of_by(const Comparison& comparison, std::string_view column, const TextStyle& style) {
  const Result<Short> all = short_of(comparison, column);
  if (!all.ok()) return all.status();
  const CaseNames names = CaseNames::of(comparison);
  const auto fits = [&](Naming naming) { return grid_of(*all, called_by(naming, comparison)).width() <= style.width; };
  const auto* const naming = std::find_if(kNamings.begin(), kNamings.end() - 1, fits);
  const std::vector<std::string> called = called_by(*naming, comparison);
  std::string text = subject_of(comparison, names, *naming);
  if (!text.empty()) text = paragraph(text, style, 2);
  text += legend_of(comparison, *naming, style);
  text += paragraph(ratio_sentence(called, ": mean of the cases (least to greatest), and their verdicts"), style, 2);
  text += "\n" + grid_of(*all, called).render(style);
  for (std::size_t each = 1; each < called.size(); ++each) {
    std::vector<std::size_t> slower;  // the first
    for (const InShort& one : all->lines)
      if (one.competitor == each) slower.insert(slower.end(), one.faster.begin(), one.faster.end());
    std::sort(slower.begin(), slower.end());
    if (!slower.empty())
      text += paragraph(
          fmt::format("{} is slower than {} {}", printable(called.front()), printable(called[each]),
                      slower.size() == comparison.cases.size() ? "in every case" : "at " + names.list(slower)),
          style, 2);
  }
  for (const std::string& note : notes_by_kind(comparison, names, called)) text += paragraph("note: " + note, style, 6);
  return text;
}

}  // namespace tutti::harness
