// SPDX-License-Identifier: Apache-2.0
#include "bench/views/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "bench/axes/environment_axis.hpp"
#include "bench/views/text_grid.hpp"

namespace tutti {

namespace {

bool is_null(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }
bool is_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

constexpr int kAllDigits = 0;

// All digits, or only the significant ones.
std::string in_digits(double number, int digits) {
  if (digits == kAllDigits || !std::isfinite(number)) return fmt::format("{}", number);
  const std::string rounded = fmt::format("{:.{}g}", number, digits);
  // Not as it stands, with an exponent from few digits on.
  double read = number;
  std::from_chars(rounded.data(), rounded.data() + rounded.size(), read);
  return fmt::format("{}", read);
}

// The value as bare text, whatever the format makes of null.
std::string plain(const Cell& cell, std::string_view null, int digits) {
  struct Writer {
    std::string_view null;
    int digits;
    std::string operator()(std::monostate) const { return std::string(null); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return in_digits(number, digits); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const VariableCell& variable) const { return harness::shown(variable.value); }
  };
  return std::visit(Writer{null, digits}, cell);
}

// Broken at blanks; a word longer than the limit stays whole.
std::vector<std::string> wrap(std::string_view text, std::size_t limit) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!lines.back().empty() && limit != 0 && characters_of(lines.back()) + 1 + characters_of(word) > limit)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

// A heading, broken behind underscores, in which its lines end then, and at blanks.
std::vector<std::string> wrap_heading(std::string_view name, std::size_t limit) {
  std::vector<std::string> lines(1);
  while (!name.empty()) {
    const std::size_t gap = name.find_first_of("_ ");
    const std::string_view word = name.substr(0, gap == std::string_view::npos ? gap : gap + 1);
    if (!lines.back().empty() && limit != 0 && characters_of(lines.back()) + characters_of(word) > limit)
      lines.emplace_back();
    lines.back() += word;
    name.remove_prefix(word.size());
  }
  for (std::string& line : lines)
    if (line.ends_with(' ')) line.pop_back();
  return lines;
}

// One cell of the aligned table.
struct Box {
  std::vector<std::string> lines;
  bool right = false;
};

Box box_of(const Cell& cell, const Column& column) {
  const std::string text = printable(text_of(cell, column.digits));
  if (column.wrap_at == 0) return {{text}, is_number(cell)};
  return {wrap(text, column.wrap_at), is_number(cell)};
}

void append_boxes(const std::vector<Box>& boxes, const std::vector<std::size_t>& widths, std::string& text) {
  std::size_t height = 0;
  for (const Box& box : boxes) height = std::max(height, box.lines.size());
  for (std::size_t line = 0; line < height; ++line) {
    std::string whole;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const std::string part = line < boxes[i].lines.size() ? boxes[i].lines[line] : "";
      const std::string padding(widths[i] - characters_of(part), ' ');
      whole += i == 0 ? "" : "  ";
      whole += boxes[i].right ? padding + part : part + padding;
    }
    whole.erase(whole.find_last_not_of(' ') + 1);
    text += whole;
    text += '\n';
  }
}

std::string csv_field(const Cell& cell) {
  if (is_null(cell)) return {};
  const auto* variable = std::get_if<VariableCell>(&cell);
  if (variable != nullptr && variable->value == "") return R"("")";
  const std::string text = plain(cell, "", kAllDigits);
  const bool is_text = variable != nullptr || std::holds_alternative<std::string>(cell);
  if (!is_text || (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos)) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field += '"';
}

std::string markdown_cell(const Cell& cell, int digits) {
  std::string escaped;
  for (const char c : text_of(cell, digits)) {
    if (c == '\n') {
      escaped += "<br>";
    } else {
      if (c == '|' || c == '\\') escaped += '\\';
      escaped += c;
    }
  }
  return printable(escaped);
}

nlohmann::ordered_json json_of(const Cell& cell) {
  struct Writer {
    nlohmann::ordered_json operator()(std::monostate) const { return nullptr; }
    nlohmann::ordered_json operator()(bool flag) const { return flag; }
    nlohmann::ordered_json operator()(std::int64_t number) const { return number; }
    nlohmann::ordered_json operator()(double number) const { return number; }
    nlohmann::ordered_json operator()(const std::string& text) const { return text; }
    nlohmann::ordered_json operator()(const VariableCell& variable) const {
      return variable.value ? nlohmann::ordered_json(*variable.value) : nullptr;
    }
  };
  return std::visit(Writer(), cell);
}

template <typename Range, typename Function>
std::string joined(const Range& range, std::string_view separator, Function function) {
  std::string text;
  for (const auto& item : range) {
    if (&item != &*std::begin(range)) text += separator;
    text += function(item);
  }
  return text;
}

}  // namespace

std::string text_of(const Cell& cell, int digits, std::string_view null) { return plain(cell, null, digits); }

void Table::add_row(std::vector<Cell> cells) {
  TUTTI_ASSERT(cells.size() == columns_.size(), "a row needs one cell for each column");
  rows_.push_back(std::move(cells));
}

Table without_empty_columns(const Table& table) {
  std::vector<std::size_t> kept;
  std::vector<Column> columns;
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    const bool is_empty = std::all_of(table.rows().begin(), table.rows().end(), [&](const std::vector<Cell>& row) {
      return std::holds_alternative<std::monostate>(row[column]);
    });
    if (is_empty && !table.rows().empty()) continue;
    kept.push_back(column);
    columns.push_back(table.columns()[column]);
  }
  Table shorter(std::move(columns));
  for (const std::vector<Cell>& row : table.rows()) {
    std::vector<Cell> cells;
    cells.reserve(kept.size());
    for (const std::size_t column : kept) cells.push_back(row[column]);
    shorter.add_row(std::move(cells));
  }
  return shorter;
}

std::string_view name_of(Format format) {
  switch (format) {
    case Format::table: return "table";
    case Format::csv: return "csv";
    case Format::json: return "json";
    case Format::md: return "md";
  }
  return "unknown";
}

std::optional<Format> format_from_name(std::string_view name) {
  for (const Format format : {Format::table, Format::csv, Format::json, Format::md})
    if (name == name_of(format)) return format;
  return std::nullopt;
}

std::string to_aligned(const Table& table) {
  std::vector<std::vector<Box>> grid(1);
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const Column& column = table.columns()[i];
    if (column.is_aside) continue;
    const auto is_number_or_null = [&](const auto& row) { return is_number(row[i]) || is_null(row[i]); };
    const bool right =
        !table.rows().empty() && std::all_of(table.rows().begin(), table.rows().end(), is_number_or_null);
    grid[0].push_back({wrap_heading(printable(column.name), column.wrap_at), right});
  }
  for (const std::vector<Cell>& row : table.rows()) {
    std::vector<Box>& boxes = grid.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.columns()[i].is_aside) continue;
      boxes.push_back(box_of(row[i], table.columns()[i]));
      boxes.back().right |= is_null(row[i]) && grid[0][boxes.size() - 1].right;
    }
  }
  std::vector<std::size_t> widths(grid[0].size(), 0);
  for (const std::vector<Box>& boxes : grid) {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      for (const std::string& line : boxes[i].lines) widths[i] = std::max(widths[i], characters_of(line));
    }
  }
  std::string text;
  for (const std::vector<Box>& boxes : grid) append_boxes(boxes, widths, text);
  return text;
}

std::string to_csv(const Table& table) {
  std::string text = joined(table.columns(), ",", [](const Column& column) { return csv_field(column.name); }) + "\n";
  for (const std::vector<Cell>& row : table.rows()) text += joined(row, ",", csv_field) + "\n";
  return text;
}

std::string to_json(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::vector<bool> are_variables;
  for (std::size_t i = 0; i < table.columns().size(); ++i)
    are_variables.push_back(std::any_of(table.rows().begin(), table.rows().end(),
                                        [&](const auto& row) { return std::holds_alternative<VariableCell>(row[i]); }));
  for (const std::vector<Cell>& row : table.rows()) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      if (!is_null(row[i]) || !are_variables[i]) object[table.columns()[i].name] = json_of(row[i]);
    rows.push_back(std::move(object));
  }
  return rows.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_markdown(const Table& table) {
  const auto line = [](const std::string& cells) { return "| " + cells + " |\n"; };
  std::string text =
      line(joined(table.columns(), " | ", [](const Column& c) { return markdown_cell(c.name, kDigits); }));
  text += line(joined(table.columns(), " | ", [](const Column&) { return std::string("---"); }));
  for (const std::vector<Cell>& row : table.rows()) {
    std::string cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells += (i == 0 ? "" : " | ") + markdown_cell(row[i], table.columns()[i].digits);
    text += line(cells);
  }
  return text;
}

std::string render(const Table& table, Format format) {
  switch (format) {
    case Format::table: return to_aligned(table);
    case Format::csv: return to_csv(table);
    case Format::json: return to_json(table);
    case Format::md: return to_markdown(table);
  }
  return {};
}

}  // namespace tutti
