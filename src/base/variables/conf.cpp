// SPDX-License-Identifier: Apache-2.0
#include "base/variables/conf.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/system/file.hpp"
#include "base/text.hpp"

namespace tutti {

namespace {

constexpr bool is_name_begin(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
constexpr bool is_name_part(char c) { return is_name_begin(c) || (c >= '0' && c <= '9'); }

bool is_name(std::string_view text) {
  return !text.empty() && is_name_begin(text.front()) && std::all_of(text.begin(), text.end(), is_name_part);
}

// A value may be a secret, so a message shows of a line only what stands before the first blank or '='.
std::string shown(std::string_view line) {
  const std::string_view first = line.substr(0, line.find_first_of(" \t="));
  return first.size() == line.size() ? in_quotes(line) : in_quotes(first) + " and more";
}

// Either the value or what is wrong about it.
struct ParsedValue {
  std::string_view value;
  std::string_view wrong;
};

ParsedValue parse_value(std::string_view text) {
  if (text.empty() || text.front() != '"') {
    // A comment begins at a # behind a blank, so that a#b is a value.
    for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
      if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t') return {trim(text.substr(0, at)), {}};
    }
    return {text, {}};
  }
  const std::size_t close = text.find('"', 1);
  if (close == std::string_view::npos) return {{}, "the quote is not closed; end the value with \""};
  const std::string_view behind = trim(text.substr(close + 1));
  if (!behind.empty() && behind.front() != '#')
    return {{}, "something follows the closing quote; only a # comment may"};
  return {text.substr(1, close - 1), {}};
}

class Parser {
 public:
  explicit Parser(std::string_view path) : path_(path) {}

  void take(std::string_view line) {
    ++number_;
    const std::string_view text = trim(line);
    if (first_invalid_utf8(line) != std::string_view::npos) return wrong("the line is not UTF-8 text");
    const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; };
    if (std::any_of(text.begin(), text.end(), is_control)) return wrong("the line holds a control character");
    if (text.empty() || text.front() == '#') return;
    const std::size_t equals = text.find('=');
    const std::string_view name = trim(text.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(name)) {
      return wrong(fmt::format("found {}, expected NAME = value", shown(text)));
    }
    const ParsedValue parsed = parse_value(trim(text.substr(equals + 1)));
    if (!parsed.wrong.empty()) return wrong(fmt::format("{}: {}", name, parsed.wrong));
    const auto [earlier, is_new] = line_of_.try_emplace(std::string(name), number_);
    if (!is_new) return wrong(fmt::format("{} is set a second time, after line {}; keep one", name, earlier->second));
    contents_.lines.push_back({std::string(name), std::string(parsed.value), number_});
  }

  ConfContents finish() && { return std::move(contents_); }

 private:
  void wrong(std::string_view what) {
    // A file that is not a conf at all is wrong in every line; the first ones tell.
    constexpr std::size_t kMostErrors = 20;
    if (contents_.errors.size() < kMostErrors) {
      contents_.errors.push_back(fmt::format("{}:{}: {}", path_, number_, what));
    } else if (contents_.errors.size() == kMostErrors) {
      contents_.errors.push_back(fmt::format("{}:{}: and more; is this a tutti.conf?", path_, number_));
    }
  }

  std::string_view path_;
  int number_ = 0;
  std::unordered_map<std::string, int> line_of_;
  ConfContents contents_;
};

}  // namespace

ConfContents parse_conf(std::string_view text, std::string_view path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Parser parser(path);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser.take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(parser).finish();
}

Result<std::optional<std::string>> read_conf(const std::string& path) {
  return read_file_if_there(path, kConfGreatestBytes);
}

}  // namespace tutti
