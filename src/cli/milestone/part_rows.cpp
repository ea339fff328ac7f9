// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/part_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/assert.hpp"

namespace tutti::cli {

PartRows::PartRows(PartOrigin origin, const std::vector<Column>& columns, std::vector<CaseRows> cases)
    : origin_(std::move(origin)), table_(columns) {
  std::map<std::string_view, std::size_t> places;
  for (const std::string& name : origin_.cases) places.emplace(name, places.size());
  std::erase_if(cases, [&](const CaseRows& each) { return !places.contains(each.name); });
  std::stable_sort(cases.begin(), cases.end(),
                   [&](const CaseRows& a, const CaseRows& b) { return places.at(a.name) < places.at(b.name); });
  cases_ = std::move(cases);
  for (const CaseRows& each : cases_)
    for (const PartRow& row : each.rows) table_.add_row(row);
}

std::size_t PartRows::num_errors() const {
  return static_cast<std::size_t>(
      std::count_if(cases_.begin(), cases_.end(), [](const CaseRows& each) { return !each.error.empty(); }));
}

const Cell& PartRows::cell(std::size_t row, std::string_view column) const {
  const std::vector<Column>& columns = table_.columns();
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const Column& each) { return each.name == column; });
  TUTTI_ASSERT(found != columns.end(), "a part asks for a column that it has not");
  return table_.rows()[row][static_cast<std::size_t>(found - columns.begin())];
}

std::string PartRows::text(std::size_t row, std::string_view column) const {
  const auto* const text = std::get_if<std::string>(&cell(row, column));
  return text == nullptr ? "" : *text;
}

std::optional<double> PartRows::number(std::size_t row, std::string_view column) const {
  const Cell& found = cell(row, column);
  if (const auto* const whole = std::get_if<std::int64_t>(&found)) return static_cast<double>(*whole);
  if (const auto* const fraction = std::get_if<double>(&found)) return *fraction;
  return std::nullopt;
}

bool PartRows::is_true(std::size_t row, std::string_view column) const {
  const auto* const truth = std::get_if<bool>(&cell(row, column));
  return truth != nullptr && *truth;
}

std::vector<std::string> PartRows::texts(std::string_view column) const {
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < size(); ++row)
    if (std::string each = text(row, column); std::find(texts.begin(), texts.end(), each) == texts.end())
      texts.push_back(std::move(each));
  return texts;
}

}  // namespace tutti::cli
