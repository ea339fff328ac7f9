#include "bench/comparison_by.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/cells.hpp"

namespace tutti::harness {

namespace {

// What is known of one competitor and one value of the column.
struct InShort {
  std::vector<double> percents;
  std::map<Verdict, std::int64_t> verdicts;
  std::string slower;  // the cases in which it is
};

// What the cases of one value still differ in: "bytes=1024 root=0".
std::string others_of(const Table& identities, std::size_t row, std::size_t but) {
  std::string text;
  for (std::size_t column = 0; column < identities.columns().size(); ++column) {
    const bool varies = std::any_of(identities.rows().begin(), identities.rows().end(), [&](const auto& other) {
      return other[column] != identities.rows().front()[column];
    });
    if (column == but || !varies) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", identities.columns()[column].name,
                        text_of(identities.rows()[row][column]));
  }
  return printable(text);
}

std::vector<Cell> cells_of(const InShort& one) {
  if (one.percents.empty()) return {std::int64_t{0}, Cell(), Cell(), Cell(), Cell(), Cell(), Cell(), Cell(), Cell()};
  double sum = 0;
  for (const double percent : one.percents) sum += percent;
  const auto [least, greatest] = std::minmax_element(one.percents.begin(), one.percents.end());
  std::vector<Cell> cells = {static_cast<std::int64_t>(one.percents.size()),
                             rounded(sum / static_cast<double>(one.percents.size())), rounded(*least),
                             rounded(*greatest)};
  for (const Verdict verdict : {Verdict::faster, Verdict::same, Verdict::undecided, Verdict::slower}) {
    const auto found = one.verdicts.find(verdict);
    cells.emplace_back(found == one.verdicts.end() ? std::int64_t{0} : found->second);
  }
  cells.push_back(text_or_null(one.slower));
  return cells;
}

}  // namespace

Result<Table> table_by(const Comparison& comparison, std::string_view column) {
  constexpr std::size_t kCases = 60;  // characters
  Table identities(comparison.view.identity_columns());
  std::string known;
  for (const Column& each : identities.columns()) known += (known.empty() ? "" : ", ") + each.name;
  const auto named = std::find_if(identities.columns().begin(), identities.columns().end(),
                                  [&](const Column& each) { return each.name == column; });
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
               {"average_percent"},
               {"least_percent"},
               {"greatest_percent"},
               {"faster"},
               {"same"},
               {"undecided"},
               {"slower"},
               {"slower_at", kCases}});
  for (const Cell& value : values)
    for (std::size_t each = 1; each < comparison.competitors.size(); ++each) {
      InShort in_short;
      for (std::size_t number = 0; number < comparison.cases.size(); ++number) {
        if (identities.rows()[number][by] != value) continue;
        const std::optional<Ratio> ratio = comparison.compare(comparison.cases[number], each, 0);
        if (!ratio || !(ratio->ratio > 0)) continue;
        in_short.percents.push_back((ratio->ratio - 1) * 100);
        ++in_short.verdicts[ratio->verdict];
        if (ratio->verdict != Verdict::slower) continue;
        const std::string where = others_of(identities, number, by);
        in_short.slower += (in_short.slower.empty() ? "" : ", ") + (where.empty() ? std::string("all") : where);
      }
      std::vector<Cell> cells = {value, comparison.competitors[each]};
      const std::vector<Cell> figures = cells_of(in_short);
      cells.insert(cells.end(), figures.begin(), figures.end());
      table.add_row(std::move(cells));
    }
  return table;
}

}  // namespace tutti::harness
