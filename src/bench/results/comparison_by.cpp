#include "bench/results/comparison_by.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/results/cells.hpp"

namespace tutti::harness {

namespace {

// What is known of one competitor and one value of the column.
struct InShort {
  std::int64_t compared = 0;
  std::int64_t missing = 0;
  std::vector<double> ratios;  // that are of times
  std::map<Verdict, std::int64_t> verdicts;
  std::string slower;  // the cases in which it is
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
std::string name_of(const Table& identities, std::size_t row, const std::vector<std::size_t>& columns) {
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
    double sum = 0;
    for (const double ratio : one.ratios) sum += std::log(ratio);
    const auto [least, greatest] = std::minmax_element(one.ratios.begin(), one.ratios.end());
    cells.push_back(percent(std::exp(sum / static_cast<double>(one.ratios.size()))));
    cells.push_back(percent(*least));
    cells.push_back(percent(*greatest));
  }
  for (const Verdict verdict : {Verdict::faster, Verdict::same, Verdict::undecided, Verdict::slower}) {
    const auto found = one.verdicts.find(verdict);
    cells.emplace_back(found == one.verdicts.end() ? std::int64_t{0} : found->second);
  }
  cells.emplace_back(one.missing);
  cells.push_back(text_or_null(one.slower));
  return cells;
}

}  // namespace

Result<Table> table_by(const Comparison& comparison, std::string_view column) {
  constexpr std::size_t kCases = 60;  // characters
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
  const auto by = static_cast<std::size_t>(named - identities.columns().begin());
  for (const ComparedCase& one : comparison.cases) identities.add_row(comparison.view.identity_cells(one.any()));

  std::vector<Cell> values;
  for (const std::vector<Cell>& row : identities.rows())
    if (std::find(values.begin(), values.end(), row[by]) == values.end()) values.push_back(row[by]);
  Table table({{named->name},
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
  const std::vector<std::size_t> others = other_columns(identities, by);
  for (const Cell& value : values)
    for (std::size_t each = 1; each < comparison.competitors.size(); ++each) {
      InShort in_short;
      for (std::size_t number = 0; number < comparison.cases.size(); ++number) {
        if (identities.rows()[number][by] != value) continue;
        const std::optional<Ratio> ratio = comparison.compare(comparison.cases[number], each, 0);
        if (!ratio) {
          ++in_short.missing;
          continue;
        }
        ++in_short.compared;
        ++in_short.verdicts[ratio->verdict];
        if (ratio->ratio > 0 && std::isfinite(ratio->ratio)) in_short.ratios.push_back(ratio->ratio);
        if (ratio->verdict == Verdict::slower)
          in_short.slower += (in_short.slower.empty() ? "" : ", ") + name_of(identities, number, others);
      }
      std::vector<Cell> cells = {value, comparison.competitors[each]};
      const std::vector<Cell> figures = cells_of(in_short);
      cells.insert(cells.end(), figures.begin(), figures.end());
      table.add_row(std::move(cells));
    }
  return table;
}

}  // namespace tutti::harness
