// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/axes/list_text.hpp"
#include "bench/axes/toml_array.hpp"

namespace tutti::harness {

namespace {

bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<double> parse_fraction(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string text_of(double number) {
  std::string text = fmt::format("{}", number);
  // Without a point it would be read back as a whole number.
  if (is_whole_number(text)) text += ".0";
  return text;
}

Status empty_value(std::string_view list) {
  return {Code::invalid_argument,
          fmt::format("the list {} has an empty value; write values with single commas between, such as 8,64,1K, or "
                      "\"\" for the empty word",
                      in_quotes(list))};
}

// "torus_2d:2x3" and "host:80" are words: a range begins with a number, or where one is missing.
bool is_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view begin = trim(text.substr(0, colon));
  return begin.empty() || parse_value(begin).is_number();
}

Status append_range(const std::string& text, std::vector<Value>& values) {
  const Result<std::vector<Bytes>> points = parse_byte_list(text, kMostValues);
  if (!points.ok()) {
    const std::string hint = fmt::format("cannot read {} as a range (in double quotes it is a word)", in_quotes(text));
    return points.status().with_context(hint);
  }
  for (const Bytes point : *points) values.emplace_back(static_cast<std::int64_t>(point.value()));
  return {};
}

Status append_item(const ListItem& item, std::string_view list, std::vector<Value>& values) {
  if (item.quoted) {
    values.emplace_back(item.text);
    return {};
  }
  if (item.text.empty()) return empty_value(list);
  if (is_range(item.text)) return append_range(item.text, values);
  Value value = parse_value(item.text);
  if (value.is_word() && is_whole_number(item.text)) {
    return {Code::invalid_argument,
            fmt::format("{} is more than 64 bits hold; write a lesser number, or it in double quotes for a word",
                        in_quotes(item.text))};
  }
  values.push_back(std::move(value));
  return {};
}

Result<std::vector<Value>> values_from_array(std::string_view text) {
  const Result<TomlArray> array = parse_toml_array(text);
  if (!array.ok()) return array.status();
  std::vector<Value> values;
  for (const TomlValue& item : *array) {
    if (const auto* word = std::get_if<std::string>(&item.value)) {
      values.emplace_back(*word);
    } else if (const auto* integer = std::get_if<std::int64_t>(&item.value)) {
      values.emplace_back(*integer);
    } else if (const auto* number = std::get_if<double>(&item.value)) {
      values.emplace_back(*number);
    } else if (const auto* truth = std::get_if<bool>(&item.value)) {
      values.emplace_back(*truth ? "true" : "false");
    } else {
      return Status(Code::invalid_argument,
                    fmt::format("{} has an array among its values; write one array of words and numbers, such as [8, "
                                "\"a,b\"]",
                                in_quotes(text)));
    }
  }
  return values;
}

}  // namespace

std::int64_t Value::integer() const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return *number;
  const double fraction = this->number();
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63, the first that does not fit
  if (fraction >= kBeyond) return std::numeric_limits<std::int64_t>::max();
  if (fraction < -kBeyond) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(fraction);
}

double Value::number() const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  return 0;
}

const std::string& Value::word() const {
  static const std::string none;
  const auto* word = std::get_if<std::string>(&value_);
  return word == nullptr ? none : *word;
}

std::string Value::text() const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&value_)) return text_of(*number);
  const std::string& bare = word();
  const bool read_back = !bare.empty() && !bare.starts_with('"') && parse_value(bare) == *this;
  return read_back ? bare : with_quotes(bare);
}

Value parse_value(std::string_view text) {
  text = trim(text);
  if (std::optional<std::string> word = without_quotes(text)) return *std::move(word);
  if (is_whole_number(text)) {
    const Result<std::int64_t> integer = parse_integer(text);
    return integer.ok() ? Value(*integer) : Value(text);
  }
  // Before sizes, to which 2.0 would be 2.
  if (const std::optional<double> number = parse_fraction(text)) return *number;
  if (const Result<Bytes> size = parse_bytes(text); size.ok()) return static_cast<std::int64_t>(size->value());
  return text;
}

Result<std::vector<Value>> parse_values(std::string_view text) {
  text = trim(text);
  if (text.empty()) {
    return Status(Code::invalid_argument,
                  "the list of values is empty; write values with commas between, such as "
                  "8,64,1K, or a range, such as 8:64M:x4");
  }
  std::vector<Value> values;
  if (text.starts_with('[')) {
    Result<std::vector<Value>> from_array = values_from_array(text);
    if (!from_array.ok()) return from_array.status();
    values = *std::move(from_array);
    if (values.empty()) return Status(Code::invalid_argument, "the array [] is empty; write values, such as [8, 64]");
    return values;
  }
  const Result<std::vector<ListItem>> items = split_list(text);
  if (!items.ok()) return items.status();
  for (const ListItem& item : *items) {
    TUTTI_TRY(append_item(item, text, values));
    if (values.size() > kMostValues) {
      return Status(Code::invalid_argument,
                    fmt::format("the list {} has more than {} values", in_quotes(text), kMostValues));
    }
  }
  return values;
}

}  // namespace tutti::harness
