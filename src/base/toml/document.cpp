// SPDX-License-Identifier: Apache-2.0
#include "base/toml/document.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/text.hpp"

namespace tutti::document {

namespace {

// A key of so many dots is a table so deep that it could not be taken apart again.
constexpr std::size_t kMostOfALine = 4096;

TomlValue converted(const toml::node& node);

TomlTable converted_table(const toml::table& table) {
  TomlTable result;
  for (const auto& [key, node] : table) result.entries.push_back({std::string(key.str()), converted(node)});
  return result;
}

TomlValue converted(const toml::node& node) {
  TomlValue value{.line = node.source().begin.line, .value = Useless()};
  if (const auto* text = node.as_string()) value.value = text->get();
  if (const auto* number = node.as_integer()) value.value = number->get();
  if (const auto* number = node.as_floating_point()) value.value = number->get();
  if (const auto* truth = node.as_boolean()) value.value = truth->get();
  if (const auto* table = node.as_table()) value.value = converted_table(*table);
  if (const auto* array = node.as_array()) {
    TomlArray values;
    values.reserve(array->size());
    for (const toml::node& each : *array) values.push_back(converted(each));
    value.value = std::move(values);
  }
  return value;
}

std::string known_words(std::string_view key, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(key, known);
  return fmt::format("{}there are {}",
                     nearest.empty() ? "" : fmt::format("the nearest that is known is '{}'; ", nearest),
                     fmt::join(known, ", "));
}

}  // namespace

Result<TomlTable> parse_document(std::string_view text, std::string_view file) {
  for (std::size_t begin = 0, line = 1; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin > kMostOfALine)
      return Status(Code::invalid_argument, fmt::format("{}:{}: the line has {} characters; {} are the most",
                                                        printable(file), line, end - begin, kMostOfALine));
    // The parser takes for granted that there are none outside of texts and comments.
    const auto is_control = [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r') || c == 0x7F;
    };
    const std::string_view whole = text.substr(begin, end - begin);
    if (const auto control = std::find_if(whole.begin(), whole.end(), is_control); control != whole.end())
      return Status(Code::invalid_argument, fmt::format("{}:{}:{}: a control character, which TOML does not allow",
                                                        printable(file), line, control - whole.begin() + 1));
    begin = end + 1;
  }
  try {
    return converted_table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    return Status(Code::invalid_argument,
                  fmt::format("{}:{}:{}: {}", printable(file), at.line, at.column, printable(error.description())));
  }
}

Status Section::check_keys(std::span<const std::string_view> known) const {
  for (const auto& [key, value] : table_.entries) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return wrong(key, fmt::format("there is no such key; {}", known_words(key, known)));
  }
  return {};
}

const TomlValue* Section::find(std::string_view key) const {
  const auto found = std::find_if(table_.entries.begin(), table_.entries.end(),
                                  [&](const TomlEntry& entry) { return entry.key == key; });
  return found == table_.entries.end() ? nullptr : &found->value;
}

Status Section::read(std::string_view key, std::string& value) const {
  const TomlValue* given = find(key);
  if (given == nullptr) return {};
  const auto* text = std::get_if<std::string>(&given->value);
  if (text == nullptr) return wrong_type(key, *given, "a text in quotes");
  value = *text;
  return {};
}

Status Section::read(std::string_view key, bool& value) const {
  const TomlValue* given = find(key);
  if (given == nullptr) return {};
  const auto* truth = std::get_if<bool>(&given->value);
  if (truth == nullptr) return wrong_type(key, *given, "true or false");
  value = *truth;
  return {};
}

Status Section::read(std::string_view key, double& value) const {
  const TomlValue* given = find(key);
  if (given == nullptr) return {};
  constexpr double kMost = 1e9;
  const auto* whole = std::get_if<std::int64_t>(&given->value);
  const auto* real = std::get_if<double>(&given->value);
  if (whole == nullptr && real == nullptr) return wrong_type(key, *given, "a number");
  const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
  if (!(std::abs(number) <= kMost)) return wrong(key, fmt::format("{} is not from -1e9 to 1e9", number));
  value = number;
  return {};
}

Status Section::read(std::string_view key, std::uint32_t& value, std::uint32_t most) const {
  const TomlValue* given = find(key);
  if (given == nullptr) return {};
  const auto* number = std::get_if<std::int64_t>(&given->value);
  if (number == nullptr) return wrong_type(key, *given, "a whole number");
  if (*number < 0 || *number > std::int64_t{most}) return wrong(key, fmt::format("{} is not 0 to {}", *number, most));
  value = static_cast<std::uint32_t>(*number);
  return {};
}

Result<std::vector<Section>> Section::sections(std::string_view key) const {
  std::vector<Section> sections;
  const TomlValue* given = find(key);
  if (given == nullptr) return sections;
  if (const auto* table = std::get_if<TomlTable>(&given->value)) {
    sections.emplace_back(*table, file_, full_key(key), given->line);
    return sections;
  }
  const auto* array = std::get_if<TomlArray>(&given->value);
  if (array == nullptr) return wrong_type(key, *given, fmt::format("tables, each under [[{}]]", full_key(key)));
  for (const TomlValue& each : *array) {
    const std::string name = fmt::format("{}[{}]", full_key(key), sections.size());
    const auto* table = std::get_if<TomlTable>(&each.value);
    if (table == nullptr)
      return Status(Code::invalid_argument,
                    fmt::format("{}:{}: {}: this is {}; write tables, each under [[{}]]", printable(file_), each.line,
                                name, noun_of(each), full_key(key)));
    sections.emplace_back(*table, file_, name, each.line);
  }
  return sections;
}

Result<std::optional<Section>> Section::section(std::string_view key) const {
  const TomlValue* given = find(key);
  if (given == nullptr) return std::optional<Section>();
  const auto* table = std::get_if<TomlTable>(&given->value);
  if (table == nullptr) return wrong_type(key, *given, fmt::format("a table under [{}]", full_key(key)));
  return std::optional<Section>(Section(*table, file_, full_key(key), given->line));
}

std::string Section::full_key(std::string_view key) const {
  if (key.empty()) return key_;
  const std::string shown = printable(key);
  return key_.empty() ? shown : fmt::format("{}.{}", key_, shown);
}

std::string Section::place_of(std::string_view key) const {
  const TomlValue* value = key.empty() ? nullptr : find(key);
  const std::string name = full_key(key);
  return fmt::format("{}:{}{}{}", printable(file_), value != nullptr ? value->line : line_, name.empty() ? "" : ": ",
                     name);
}

Status Section::wrong(std::string_view key, std::string_view words) const {
  return {Code::invalid_argument, fmt::format("{}: {}", place_of(key), words)};
}

Status Section::wrong_type(std::string_view key, const TomlValue& value, std::string_view right) const {
  return wrong(key, fmt::format("this is {}; write {}", noun_of(value), right));
}

std::string_view noun_of(const TomlValue& value) {
  constexpr std::string_view kNouns[] = {"a text",           "a whole number", "a number", "true or false",
                                         "a date or a time", "an array",       "a table"};
  return kNouns[value.value.index()];
}

}  // namespace tutti::document
