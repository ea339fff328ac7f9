// SPDX-License-Identifier: Apache-2.0
#include "bench/views/narrow_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti {

namespace {

bool is_nothing(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }

bool is_same_in_all_rows(const Table& table, std::size_t column) {
  return std::all_of(table.rows().begin(), table.rows().end(),
                     [&](const auto& row) { return row[column] == table.rows().front()[column]; });
}

// Things said of rows, by number.
class Notes {
 public:
  explicit Notes(std::size_t num_rows) : num_rows_(num_rows) {}

  void add(const std::string& text, std::size_t row) {
    auto known = std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each.first == text; });
    if (known == all_.end()) known = all_.insert(all_.end(), {text, {}});
    known->second.push_back(row);
  }

  // The number of what is said of this row, but not of all.
  [[nodiscard]] Cell number_of(std::size_t row) const {
    std::int64_t number = 0;
    for (const auto& [words, rows] : all_) {
      if (rows.size() == num_rows_) continue;
      ++number;
      if (std::find(rows.begin(), rows.end(), row) != rows.end()) return number;
    }
    return {};
  }

  [[nodiscard]] std::string text(const TextStyle& style) const {
    std::string text;
    std::size_t number = 0;
    for (const auto& [words, rows] : all_) {
      const std::string name = rows.size() == num_rows_ ? "note" : fmt::format("note {}", ++number);
      text += paragraph(fmt::format("{}: {}", name, printable(words)), style, 6);
    }
    return text;
  }

 private:
  std::size_t num_rows_;
  std::vector<std::pair<std::string, std::vector<std::size_t>>> all_;
};

class NarrowTable {
 public:
  explicit NarrowTable(const Table& table) : table_(table), notes_(table.rows().size()) {
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      const Column& each = table.columns()[column];
      if (each.is_aside) continue;
      if (each.is_note) {
        for (std::size_t row = 0; row < table.rows().size(); ++row)
          if (!is_nothing(table.rows()[row][column])) notes_.add(text_of(table.rows()[row][column]), row);
      } else if (each.stands_once && is_same_in_all_rows(table, column)) {
        above_.push_back(column);
        continue;
      }
      kept_.push_back(column);
    }
  }

  [[nodiscard]] std::string text(const TextStyle& style) {
    std::string lines = aligned();
    while (widest_line(lines) > style.width && leave_out_one()) lines = aligned();
    return heading(style) + with_cut_lines(lines, style) + notes_.text(style) + left_out(style);
  }

 private:
  [[nodiscard]] std::string aligned() const {
    std::vector<Column> columns;
    for (const std::size_t column : kept_) columns.push_back(table_.columns()[column]);
    Table shorter(std::move(columns));
    for (std::size_t row = 0; row < table_.rows().size(); ++row) {
      std::vector<Cell> cells;
      for (const std::size_t column : kept_)
        cells.push_back(table_.columns()[column].is_note ? notes_.number_of(row) : table_.rows()[row][column]);
      shorter.add_row(std::move(cells));
    }
    return to_aligned(without_empty_columns(shorter));
  }

  [[nodiscard]] bool leave_out_one() {
    // Of equals the last.
    const auto next = std::max_element(kept_.rbegin(), kept_.rend(), [&](std::size_t a, std::size_t b) {
      return table_.columns()[a].yields < table_.columns()[b].yields;
    });
    if (next == kept_.rend() || table_.columns()[*next].yields == 0) return false;
    left_out_.push_back(*next);
    kept_.erase(std::next(next).base());
    return true;
  }

  [[nodiscard]] std::string heading(const TextStyle& style) const {
    std::string text;
    for (const std::size_t column : above_) {
      const Cell& cell = table_.rows().front()[column];
      if (is_nothing(cell)) continue;
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", printable(table_.columns()[column].name),
                          printable(text_of(cell, table_.columns()[column].digits)));
    }
    return text.empty() ? "" : paragraph(text, style, 2) + "\n";
  }

  [[nodiscard]] std::string left_out(const TextStyle& style) const {
    std::vector<std::size_t> columns = left_out_;
    std::sort(columns.begin(), columns.end());
    std::string names;
    for (const std::size_t column : columns)
      if (!is_same_in_all_rows(table_, column) || !is_nothing(table_.rows().front()[column]))
        names += (names.empty() ? "" : ", ") + table_.columns()[column].name;
    return names.empty() ? "" : paragraph(fmt::format("left out: {}; --wide shows them", printable(names)), style, 2);
  }

  const Table& table_;
  Notes notes_;
  std::vector<std::size_t> above_;
  std::vector<std::size_t> kept_;
  std::vector<std::size_t> left_out_;
};

}  // namespace

std::string to_narrow(const Table& table, const TextStyle& style) {
  const std::string aligned = to_aligned(without_empty_columns(table));
  if (table.rows().empty() || widest_line(aligned) <= style.width) return with_cut_lines(aligned, style);
  return NarrowTable(table).text(style);
}

}  // namespace tutti
