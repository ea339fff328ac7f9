// SPDX-License-Identifier: Apache-2.0
// Rows of typed cells, and four ways to write them: an aligned table and Markdown for people, who read as many digits
// of a fraction as a column has; CSV and JSON for machines, which get every fraction in full: the shortest text that
// reads back to the same double. A cell without a value is null in each of them and never 0. Values and pure functions;
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tutti {

// What a variable of the environment is set to: unset, empty and a word are three things. People and CSV read unset, ""
// and the word (in quotes where it would read like one of the others); JSON has null, "" and the word.
struct VariableCell {
  std::optional<std::string> value;

  friend bool operator==(const VariableCell&, const VariableCell&) = default;
};

// Null, or a value.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string, VariableCell>;

// Digits of fractions: enough for what is exact, and too few for what adding up leaves in the last places.
inline constexpr int kDigits = 10;
// Of simulated times and rates, and of shares in percent.
inline constexpr int kTimeDigits = 6;
inline constexpr int kShareDigits = 3;

struct Column {
  std::string name;         // the key in JSON and the heading elsewhere
  std::size_t wrap_at = 0;  // the aligned table breaks longer text into lines of this many characters; 0 for never
  bool is_aside = false;    // the aligned table leaves it out: it is for those who keep the data
  int digits = kDigits;     // that people read of fractions
  // Where lines would be too long (narrow_table.hpp):
  bool stands_once = false;  // what is the same in all rows stands above the table
  bool is_note = false;      // its texts stand below the table, each once
  int yields = 0;            // left out, the greatest first; 0: never
};

// A cell as people read it, null as these words.
[[nodiscard]] std::string text_of(const Cell& cell, int digits = kDigits, std::string_view null = "-");

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column.
  void add_row(std::vector<Cell> cells);

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Without the columns in which every row has null: for people, who learn nothing from them.
[[nodiscard]] Table without_empty_columns(const Table& table);

enum class Format : std::uint8_t { table, csv, json, md };

[[nodiscard]] std::string_view name_of(Format format);
[[nodiscard]] std::optional<Format> format_from_name(std::string_view name);

// Numbers stand right and text left; null is a hyphen; control characters are escaped. Text is broken at blanks,
// headings behind underscores as well.
[[nodiscard]] std::string to_aligned(const Table& table);

// RFC 4180 with line feeds. Null is an empty field; empty text is "", and so is a variable that is empty.
[[nodiscard]] std::string to_csv(const Table& table);

// An array with one object a row, keys in the order of the columns. Numbers that JSON has no form for are null. In a
// column of variables null is an unset one: a row that a variable does not concern has no such key.
[[nodiscard]] std::string to_json(const Table& table);

// GitHub's table; null is a hyphen.
[[nodiscard]] std::string to_markdown(const Table& table);

[[nodiscard]] std::string render(const Table& table, Format format);

}  // namespace tutti
