// SPDX-License-Identifier: Apache-2.0
#include "bench/views/case_names.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti::harness {

namespace {

constexpr std::string_view kBytes = "bytes";

// "type=f32 op=sum" of one row; columns without a value are nothing to read.
std::string pairs_of(const Table& identities, std::size_t row, const std::vector<std::size_t>& columns,
                     std::string_view separator) {
  std::string text;
  for (const std::size_t each : columns) {
    const Cell& cell = identities.rows()[row][each];
    if (std::holds_alternative<std::monostate>(cell)) continue;
    const Column& column = identities.columns()[each];
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : separator, printable(column.name), value_text(column.name, cell));
  }
  return text;
}

// "all_reduce on 2 ranks, type=f32".
std::string shared_of(const Table& identities, std::vector<std::size_t> columns) {
  const auto take = [&](std::string_view name) -> const Cell* {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](std::size_t c) { return identities.columns()[c].name == name; });
    if (found == columns.end()) return nullptr;
    const Cell& cell = identities.rows().front()[*found];
    columns.erase(found);
    return &cell;
  };
  std::string text;
  if (const Cell* bench = take("bench"); bench != nullptr) text = printable(text_of(*bench));
  if (const Cell* ranks = take("ranks"); ranks != nullptr)
    if (const auto* number = std::get_if<std::int64_t>(ranks); number != nullptr)
      text += (text.empty() ? "" : " on ") + counted(static_cast<std::uint64_t>(*number), "rank");
  const std::string others = pairs_of(identities, 0, columns, ", ");
  return text + (text.empty() || others.empty() ? "" : ", ") + others;
}

// Which of the columns that tell cases apart labels them: sizes, or else the last.
std::optional<std::size_t> label_column(const Table& identities, const std::vector<std::size_t>& telling) {
  const auto is_bytes = [&](std::size_t column) { return identities.columns()[column].name == kBytes; };
  const auto bytes = std::find_if(telling.begin(), telling.end(), is_bytes);
  if (bytes != telling.end()) return *bytes;
  if (!telling.empty()) return telling.back();
  for (std::size_t column = 0; column < identities.columns().size(); ++column)
    if (is_bytes(column)) return column;
  return std::nullopt;
}

}  // namespace

std::string value_text(std::string_view column, const Cell& cell) {
  const auto* number = std::get_if<std::int64_t>(&cell);
  if (column == kBytes && number != nullptr && *number >= 0) return to_text(Bytes(static_cast<std::uint64_t>(*number)));
  return printable(text_of(cell));
}

CaseNames CaseNames::of(const Comparison& comparison) {
  CaseNames names;
  if (comparison.cases.empty()) return names;
  Table identities(comparison.view.identity_columns());
  for (const ComparedCase& one : comparison.cases) identities.add_row(comparison.view.identity_cells(one.any()));
  std::vector<std::size_t> common;
  std::vector<std::size_t> telling;
  for (std::size_t column = 0; column < identities.columns().size(); ++column) {
    const bool varies = std::any_of(identities.rows().begin(), identities.rows().end(),
                                    [&](const auto& row) { return row[column] != identities.rows().front()[column]; });
    (varies ? telling : common).push_back(column);
  }
  const std::optional<std::size_t> label = label_column(identities, telling);
  std::vector<std::size_t> grouping = telling;
  if (label) {
    std::erase(common, *label);
    std::erase(grouping, *label);
  }
  names.shared = shared_of(identities, common);
  for (std::size_t row = 0; row < identities.rows().size(); ++row) {
    std::string group = pairs_of(identities, row, grouping, " ");
    const auto found = std::find(names.groups.begin(), names.groups.end(), group);
    names.group_of.push_back(static_cast<std::size_t>(found - names.groups.begin()));
    if (found == names.groups.end()) names.groups.push_back(std::move(group));
  }
  // Groups of one case each divide nothing.
  const bool is_divided = names.groups.size() < names.group_of.size() || grouping.empty();
  names.column = !label ? "" : is_divided ? printable(identities.columns()[*label].name) : "case";
  names.are_numbers = label && is_divided;
  for (std::size_t row = 0; row < identities.rows().size(); ++row) {
    const Cell* cell = label ? &identities.rows()[row][*label] : nullptr;
    names.are_numbers =
        names.are_numbers && (std::holds_alternative<std::int64_t>(*cell) || std::holds_alternative<double>(*cell));
    names.labels.push_back(cell == nullptr ? ""
                           : is_divided    ? value_text(identities.columns()[*label].name, *cell)
                                           : pairs_of(identities, row, telling, " "));
  }
  if (!is_divided) {
    names.groups = {""};
    std::fill(names.group_of.begin(), names.group_of.end(), 0);
  }
  return names;
}

std::string CaseNames::full(std::size_t number) const {
  const std::string& group = groups[group_of[number]];
  return group + (group.empty() || labels[number].empty() ? "" : " ") + labels[number];
}

std::string CaseNames::list(const std::vector<std::size_t>& numbers) const {
  constexpr std::size_t kMost = 8;
  const auto count_in = [&](std::size_t group, const auto& which) {
    return std::count_if(which.begin(), which.end(), [&](std::size_t number) { return group_of[number] == group; });
  };
  std::vector<std::string> words;
  for (const std::size_t number : numbers) {
    const std::size_t group = group_of[number];
    const bool is_whole = count_in(group, numbers) == std::count(group_of.begin(), group_of.end(), group);
    std::string name = is_whole && !groups[group].empty() ? groups[group] : full(number);
    if (std::find(words.begin(), words.end(), name) == words.end()) words.push_back(std::move(name));
  }
  std::string text;
  for (std::size_t each = 0; each < std::min(words.size(), kMost); ++each)
    text += (text.empty() ? "" : ", ") + words[each];
  return words.size() > kMost ? fmt::format("{} and {} more", text, words.size() - kMost) : text;
}

}  // namespace tutti::harness
