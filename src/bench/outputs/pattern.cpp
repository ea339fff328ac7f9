// SPDX-License-Identifier: Apache-2.0
// Outputs that a user's regular expression describes. The library's expressions have no named groups, so the names are
// taken out and remembered by the groups' numbers.
#include <algorithm>
#include <memory>
#include <regex>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/outputs/fields.hpp"
#include "bench/outputs/readers.hpp"
#include "bench/outputs/words.hpp"

namespace tutti::harness {

namespace {

// The library matches by recursion, so a line may not be as long as the stack.
constexpr std::size_t kLongestLine = 2048;

// The usual way of matching takes time without end for some patterns, such as "(.*)*x"; this library has another one,
// which only cannot look back at what was matched.
#ifdef __GLIBCXX__
constexpr auto kSyntax = std::regex::ECMAScript | std::regex::optimize | std::regex_constants::__polynomial;
#else
constexpr auto kSyntax = std::regex::ECMAScript | std::regex::optimize;
#endif

constexpr std::string_view kRight =
    "write named groups, one of them time_ns, time_us, time_ms or time_s, such as "
    "'size (?<bytes>[0-9]+) took (?<time_us>[0-9.]+)'";

Status bad_pattern(std::string_view pattern, std::string_view why) {
  return {Code::invalid_argument, fmt::format("the pattern {}: {}; {}", in_quotes(pattern), why, kRight)};
}

bool is_group_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

struct Pattern {
  std::regex regex;
  std::vector<std::string> names;  // of the groups by number from 1; empty where it has none
};

// The pattern with "(" for "(?<name>" and "(?P<name>", and the names.
struct Unnamed {
  std::string text;
  std::vector<std::string> names;
};

Result<Unnamed> without_names(std::string_view pattern) {
  Unnamed result;
  bool in_set = false;
  for (std::size_t place = 0; place < pattern.size(); ++place) {
    const char letter = pattern[place];
    result.text += letter;
    if (letter == '\\' && place + 1 < pattern.size()) {
      result.text += pattern[++place];
    } else if (letter == '[' || letter == ']') {
      in_set = letter == '[';
    } else if (letter == '(' && !in_set) {
      std::string_view rest = pattern.substr(place + 1);
      const std::size_t mark = rest.starts_with("?P<") ? 3 : 2;
      if (!rest.starts_with("?<") && mark == 2) {
        if (!rest.starts_with('?')) result.names.emplace_back();
        continue;
      }
      const std::size_t end = rest.find('>');
      const std::string_view name = end == std::string_view::npos ? "" : rest.substr(mark, end - mark);
      if (!is_group_name(name)) return bad_pattern(pattern, "a group's name is not letters, digits and _");
      if (std::find(result.names.begin(), result.names.end(), name) != result.names.end())
        return bad_pattern(pattern, fmt::format("the group {} is there twice", name));
      result.names.emplace_back(name);
      place += end + 1;
    }
  }
  return result;
}

void take_line(std::string_view line, const Pattern& pattern, Output& output) {
  std::cmatch match;
  if (line.size() > kLongestLine || !std::regex_search(line.begin(), line.end(), match, pattern.regex)) return;
  Reading row;
  for (std::size_t group = 0; group < pattern.names.size(); ++group) {
    const std::string& name = pattern.names[group];
    const auto& part = match[group + 1];
    if (name.empty() || !part.matched) continue;
    const std::string_view text = trim({part.first, static_cast<std::size_t>(part.length())});
    if (is_time_field(name)) {
      set_time(row, text, *unit_behind(name));
    } else {
      set_field(row, name, text);
    }
  }
  if (!row.nanos && row.problem.empty()) row.problem = "the line that matches has no time";
  output.readings.push_back(std::move(row));
}

}  // namespace

Result<Reader> pattern_reader(std::string_view pattern) {
  Result<Unnamed> unnamed = without_names(pattern);
  if (!unnamed.ok()) return unnamed.status();
  if (std::none_of(unnamed->names.begin(), unnamed->names.end(), is_time_field))
    return bad_pattern(pattern, "none of its groups is a time");
  auto made = std::make_shared<Pattern>();
  made->names = std::move(unnamed->names);
  try {
    made->regex = std::regex(unnamed->text, kSyntax);
  } catch (const std::regex_error& error) {
    return bad_pattern(pattern, printable(error.what()));
  }
  return Reader([pattern = std::shared_ptr<const Pattern>(std::move(made))](std::string_view text) {
    Output output;
    for (const std::string_view line : lines_of(text)) {
      try {
        take_line(line, *pattern, output);
      } catch (const std::regex_error&) {
        output.note_unread(line);  // matching it would have taken too much
      }
    }
    if (!output.readings.empty() || output.num_unread > 0) output.format = "regex";
    return output;
  });
}

}  // namespace tutti::harness
