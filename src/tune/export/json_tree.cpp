// SPDX-License-Identifier: Apache-2.0
#include "tune/export/json_tree.hpp"

#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::tune {

namespace {

using document::TomlArray;
using document::TomlTable;
using document::TomlValue;

constexpr int kMostNested = 64;

class JsonParser {
 public:
  JsonParser(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  Result<TomlTable> document() {
    skip_blanks();
    if (peek() != '{') return wrong("is not JSON: it begins with no {");
    TUTTI_TRY_ASSIGN(TomlTable object, read_object(0));
    skip_blanks();
    if (at_ < text_.size()) return wrong("goes on behind the last }");
    return object;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] Status wrong(std::string_view words) const {
    return wrong_argument(fmt::format("{}:{}: {}", printable(place_), line_, words));
  }
  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
      if (c == '\n') ++line_;
    }
  }
  bool take(char c) {
    skip_blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  Result<TomlTable> read_object(int depth) {
    ++at_;
    TomlTable object;
    std::set<std::string> keys;
    if (take('}')) return object;
    do {
      skip_blanks();
      if (peek() != '"') return wrong("a key in quotes is missing");
      TUTTI_TRY_ASSIGN(std::string key, read_text());
      if (!keys.insert(key).second) return wrong(fmt::format("key {} is there twice", in_quotes(key)));
      if (!take(':')) return wrong("a : is missing behind a key");
      TUTTI_TRY_ASSIGN(TomlValue value, read_value(depth + 1));
      object.entries.push_back({std::move(key), std::move(value)});
    } while (take(','));
    if (!take('}')) return wrong("a , or } is missing");
    return object;
  }

  Result<TomlArray> read_array(int depth) {
    ++at_;
    TomlArray array;
    if (take(']')) return array;
    do {
      TUTTI_TRY_ASSIGN(TomlValue value, read_value(depth + 1));
      array.push_back(std::move(value));
    } while (take(','));
    if (!take(']')) return wrong("a , or ] is missing");
    return array;
  }

  Result<TomlValue> read_value(int depth) {
    skip_blanks();
    if (depth > kMostNested) return wrong(fmt::format("more than {} levels are nested", kMostNested));
    TomlValue value{.line = line_, .value = document::Useless()};
    switch (peek()) {
      case '{': {
        TUTTI_TRY_ASSIGN(value.value, read_object(depth));
        return value;
      }
      case '[': {
        TUTTI_TRY_ASSIGN(value.value, read_array(depth));
        return value;
      }
      case '"': {
        TUTTI_TRY_ASSIGN(value.value, read_text());
        return value;
      }
      default: break;
    }
    for (const auto& [word, meaning] : {std::pair("true", true), std::pair("false", false)})
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::string_view(word).size();
        value.value = meaning;
        return value;
      }
    if (text_.substr(at_).starts_with("null")) {
      at_ += 4;
      return value;
    }
    return read_number();
  }

  Result<TomlValue> read_number() {
    std::size_t end = at_;
    while (end < text_.size() && std::string_view("+-.eE0123456789").find(text_[end]) != std::string_view::npos) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const char* const last = word.data() + word.size();
    TomlValue value{.line = line_, .value = std::int64_t{0}};
    std::int64_t whole = 0;
    if (const auto [stop, error] = std::from_chars(word.data(), last, whole);
        error == std::errc() && stop == last && !word.empty()) {
      value.value = whole;
    } else {
      double number = 0;
      const auto [number_stop, number_error] = std::from_chars(word.data(), last, number);
      if (number_error != std::errc() || number_stop != last || word.empty() || !std::isfinite(number))
        return wrong("a value is missing, or is none");
      value.value = number;
    }
    at_ = end;
    return value;
  }

  // No format here has characters that want \u.
  Result<std::string> read_text() {
    std::string text;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return text;
      }
      if (static_cast<unsigned char>(c) < ' ') return wrong("text in quotes has a control character");
      if (c != '\\') {
        text += c;
        continue;
      }
      ++at_;
      constexpr std::string_view kEscapes = "\"\\/bfnrt";
      constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
      const std::size_t which = kEscapes.find(peek());
      if (peek() == '\0' || which == std::string_view::npos) return wrong("text in quotes has an escape that is none");
      text += kMeanings[which];
    }
    return wrong("text in quotes has no end");
  }

  std::string_view text_;
  std::string_view place_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

std::string quoted_json(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return made + "\"";
}

std::string compact_json(const TomlValue& value);

std::string compact_json(const TomlTable& object) {
  std::string text = "{";
  for (const document::TomlEntry& entry : object.entries)
    text += fmt::format("{}{}: {}", text.size() == 1 ? "" : ", ", quoted_json(entry.key), compact_json(entry.value));
  return text + "}";
}

std::string compact_json(const TomlValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value.value)) return quoted_json(*text);
  if (const auto* const whole = std::get_if<std::int64_t>(&value.value)) return fmt::format("{}", *whole);
  if (const auto* const number = std::get_if<double>(&value.value)) return fmt::format("{}", *number);
  if (const auto* const truth = std::get_if<bool>(&value.value)) return *truth ? "true" : "false";
  if (const auto* const object = std::get_if<TomlTable>(&value.value)) return compact_json(*object);
  if (const auto* const array = std::get_if<TomlArray>(&value.value)) {
    std::string text = "[";
    for (const TomlValue& each : *array) text += fmt::format("{}{}", text.size() == 1 ? "" : ", ", compact_json(each));
    return text + "]";
  }
  return "null";
}

void add_json(std::string& text, const TomlValue& value, std::size_t indent, std::size_t width) {
  const std::string compact = compact_json(value);
  const auto* const object = std::get_if<TomlTable>(&value.value);
  const auto* const array = std::get_if<TomlArray>(&value.value);
  const bool is_short = indent + compact.size() <= width;
  if (is_short || (object == nullptr && array == nullptr)) {
    text += compact;
    return;
  }
  const std::string blanks(indent + 2, ' ');
  const char* separator = "\n";
  text += object != nullptr ? '{' : '[';
  const auto begin = [&] {
    text += separator + blanks;
    separator = ",\n";
  };
  if (object != nullptr)
    for (const document::TomlEntry& entry : object->entries) {
      begin();
      text += quoted_json(entry.key) + ": ";
      add_json(text, entry.value, indent + 2, width);
    }
  if (array != nullptr)
    for (const TomlValue& each : *array) {
      begin();
      add_json(text, each, indent + 2, width);
    }
  text += fmt::format("\n{}{}", std::string(indent, ' '), object != nullptr ? '}' : ']');
}

}  // namespace

Result<TomlTable> parse_json(std::string_view text, std::string_view place) {
  if (text.size() > kMostJsonBytes)
    return wrong_argument(
        fmt::format("{}: it has {} bytes; {} are the most", printable(place), text.size(), kMostJsonBytes));
  return JsonParser(text, place).document();
}

std::string write_json(const TomlTable& object, std::size_t inline_width) {
  std::string text;
  add_json(text, TomlValue{.line = 0, .value = object}, 0, inline_width);
  return text + "\n";
}

}  // namespace tutti::tune
