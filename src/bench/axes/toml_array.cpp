// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/toml_array.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/text.hpp"
#include "bench/axes/list_text.hpp"

namespace tutti::harness {

namespace {

constexpr std::string_view kUnset = "unset";
// Stands for a bare unset while toml++ reads: a table, which is no value of ours, as long as the word so that places in
// messages stay right.
constexpr std::string_view kMarker = "{u=0}";
static_assert(kMarker.size() == kUnset.size());

// toml++ reads documents, so the array becomes the value of a key.
constexpr std::string_view kKey = "x = ";

Status bad_array(std::string_view text, std::string_view why) {
  return {Code::invalid_argument,
          fmt::format("{} is not an array of values as TOML writes it: {}; write words in quotes and numbers without, "
                      "such as [8, 0.5, \"a,b\"]",
                      in_quotes(text), why)};
}

// The end of the string that begins at `at`, by TOML's four kinds of quotes; the end of the text where it is not
// closed.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string closing(text.substr(at, 3) == std::string(3, quote) ? 3U : 1U, quote);
  at += closing.size();
  while (at < text.size() && text.substr(at, closing.size()) != closing) {
    at += quote == '"' && text[at] == '\\' ? 2 : 1;
  }
  at = std::min(at + closing.size(), text.size());
  // Up to two quotes may stand right before the three that close.
  for (int more = 0; closing.size() == 3 && more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
  return at;
}

// Of a bare word or number.
bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '+' || c == '.';
}

// Each bare unset replaced by the marker.
Result<std::string> with_markers(std::string_view text) {
  std::string marked(text);
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '{') {
      return bad_array(text, "it holds a table");  // which could be taken for the marker
    } else if (is_bare(c)) {
      std::size_t end = at;
      while (end < text.size() && is_bare(text[end])) ++end;
      if (text.substr(at, end - at) == kUnset) marked.replace(at, kUnset.size(), kMarker);
      at = end;
    } else {
      ++at;
    }
  }
  return marked;
}

class Converter {
 public:
  Converter(std::string_view text, UnsetWord unset) : text_(text), unset_(unset) {}

  Result<TomlArray> convert(const toml::array& array) {
    TomlArray values;
    for (const toml::node& node : array) {
      Result<TomlValue> value = convert_node(node);
      if (!value.ok()) return value.status();
      values.push_back(*std::move(value));
    }
    return values;
  }

 private:
  Result<TomlValue> convert_node(const toml::node& node) {
    if (++values_ > kMostValues) return bad_array(text_, fmt::format("it has more than {} values", kMostValues));
    if (const auto* text = node.as_string()) return TomlValue{text->get()};
    if (const auto* number = node.as_integer()) return TomlValue{number->get()};
    if (const auto* truth = node.as_boolean()) return TomlValue{truth->get()};
    if (const auto* number = node.as_floating_point()) {
      if (!std::isfinite(number->get()))
        return bad_array(text_, "it holds inf or nan, which are no numbers to measure at");
      return TomlValue{number->get()};
    }
    if (const auto* array = node.as_array()) {
      Result<TomlArray> values = convert(*array);
      if (!values.ok()) return values.status();
      return TomlValue{*std::move(values)};
    }
    if (node.is_table() && unset_ == UnsetWord::allowed) return TomlValue{BareUnset()};
    return bad_array(text_, node.is_table() ? "it holds a table" : "it holds a date or a time");
  }

  std::string_view text_;
  UnsetWord unset_;
  std::size_t values_ = 0;
};

std::string describe(const toml::parse_error& error) {
  const toml::source_position at = error.source().begin;
  const std::size_t column = at.line == 1 && at.column > kKey.size() ? at.column - kKey.size() : at.column;
  const std::string line = at.line == 1 ? "" : fmt::format("line {}, ", at.line);
  return fmt::format("{} ({}character {})", printable(error.description()), line, column);
}

}  // namespace

Result<TomlArray> parse_toml_array(std::string_view text, UnsetWord unset) {
  std::string marked(text);
  if (unset == UnsetWord::allowed) {
    Result<std::string> replaced = with_markers(text);
    if (!replaced.ok()) return replaced.status();
    marked = *std::move(replaced);
  }
  try {
    const toml::table document = toml::parse(std::string(kKey) + marked);
    const toml::array* array = document[kKey.substr(0, 1)].as_array();
    if (array == nullptr) return bad_array(text, "it does not begin with [");
    if (document.size() != 1) return bad_array(text, "something follows the array");
    return Converter(text, unset).convert(*array);
  } catch (const toml::parse_error& error) {
    return bad_array(text, describe(error));
  }
}

}  // namespace tutti::harness
