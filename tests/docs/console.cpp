// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>
#include <utility>

namespace tutti::docs {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "1.5e-3" and "12" become "#"; "p99_us" stays, since a digit within a word belongs to it.
std::string without_numbers(std::string_view word) {
  std::string shape;
  for (std::size_t at = 0; at < word.size();) {
    const bool within_word =
        at > 0 && (std::isalpha(static_cast<unsigned char>(word[at - 1])) != 0 || word[at - 1] == '_');
    if (!is_digit(word[at]) || within_word) {
      shape += word[at++];
      // The rest of the digits of such a word.
      while (within_word && at < word.size() && is_digit(word[at])) shape += word[at++];
      continue;
    }
    while (at < word.size() && (is_digit(word[at]) || word[at] == '.')) ++at;
    const bool has_exponent = at + 2 < word.size() && word[at] == 'e' && (word[at + 1] == '-' || word[at + 1] == '+');
    if (has_exponent)
      for (at += 2; at < word.size() && is_digit(word[at]);) ++at;
    shape += '#';
  }
  return shape;
}

bool is_verdict(std::string_view word) {
  constexpr std::array<std::string_view, 4> kVerdicts{"faster", "same", "slower", "undecided"};
  return std::find(kVerdicts.begin(), kVerdicts.end(), word) != kVerdicts.end();
}

// Of a time in the widest unit that fits it.
bool is_unit_of_time(std::string_view word) { return word == "ns" || word == "us" || word == "ms"; }

bool is_blank(std::string_view text) { return text.find_first_not_of(' ') == std::string_view::npos; }

bool names_store(std::string_view line) { return shape_of(line).starts_with("run # in ") && line.ends_with(".db"); }

bool is_any_lines(std::string_view line) { return line == "..."; }

// "note: …", "note 2: …": outliers and the like, below a table.
bool is_note(std::string_view line) {
  const std::string shape = shape_of(line);
  return shape.starts_with("note: ") || shape.starts_with("note #: ");
}

// What the marks of a comparison mean; which ones there are depends on the times.
bool explains_marks(std::string_view line) { return line.starts_with("* is the fastest") || line.starts_with("= is "); }

// A table of measurements keeps the columns that fit, and names the others below. Which ones fit depends on the width
// of the notes. So the names are compared as a set, and the cells up to the median.
class Measurements {
 public:
  // Where the cells end that are compared, if the line is the head of such a table.
  static std::size_t end_of_median(std::string_view line) {
    constexpr std::string_view kMedian = " time_us";
    const std::size_t at = line.find(kMedian);
    const bool is_head = at != std::string_view::npos && line.find_first_of("=:,") == std::string_view::npos;
    return is_head ? at + kMedian.size() : std::string_view::npos;
  }

  static bool names_left_out(std::string_view line) {
    return line.starts_with("left out: ") && line.ends_with("; --wide shows them");
  }

  // The head behind the median, with the names of a line "left out: …".
  static std::string sorted(std::string names) {
    std::replace_if(
        names.begin(), names.end(), [](char c) { return c == ',' || c == ';' || c == ':'; }, ' ');
    std::set<std::string> all;
    std::istringstream words(names);
    for (std::string word; words >> word;) all.insert(word);
    std::string text;
    for (const std::string& word : all) text += " " + word;
    return text;
  }
};

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Shown> console_commands(std::string_view markdown) {
  std::vector<Shown> all;
  bool inside = false;
  bool continued = false;
  std::size_t number = 0;
  for (const std::string& line : lines_of(markdown)) {
    ++number;
    if (line.starts_with("```")) {
      inside = line == "```console";
      continued = false;
      continue;
    }
    if (!inside) continue;
    if (!continued && line.starts_with("$ "))
      all.push_back({line.substr(2), {}, number});
    else if (continued)
      all.back().command += line;
    else if (!all.empty())
      all.back().output.push_back(line);
    continued = !all.empty() && all.back().output.empty() && all.back().command.ends_with('\\');
    if (continued) all.back().command.pop_back();
  }
  return all;
}

std::string shape_of(std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string shape;
  for (std::string word; words >> word;) {
    // The marks of the best and of those tied with it.
    if (word == "*" || word == "=") continue;
    if (word.find_first_not_of('-') == std::string::npos) word = "#";
    if (is_unit_of_time(word)) word = "UNIT";
    if (word.ends_with(',') && is_verdict(word.substr(0, word.size() - 1))) word.pop_back();
    if (is_verdict(word)) word = "VERDICT";
    shape += (shape.empty() ? "" : " ") + without_numbers(word);
    // "1 same, 2 slower" is one count of verdicts, as "3 slower" is.
    constexpr std::string_view kTwoCounts = "# VERDICT # VERDICT";
    if (shape.ends_with(kTwoCounts)) shape.resize(shape.size() - kTwoCounts.size() / 2 - 1);
  }
  return shape;
}

std::vector<std::string> stable_lines(const std::vector<std::string>& lines) {
  constexpr std::string_view kNote = "  note";
  std::vector<std::string> stable;
  std::size_t note = std::string::npos;    // where the column begins, with the blanks in front of it
  std::size_t median = std::string::npos;  // where the column ends
  std::size_t head = 0;                    // of this table, in `stable`
  bool within_note = false;
  for (std::string line : lines) {
    within_note = is_note(line) || (within_note && line.starts_with("      "));
    if (names_store(line) || within_note || explains_marks(line)) continue;
    if (Measurements::names_left_out(line) && median != std::string::npos) {
      const std::string names = line.substr(9, line.rfind(';') - 9);
      stable[head] = stable[head].substr(0, median) + Measurements::sorted(stable[head].substr(median) + names);
      continue;
    }
    const bool was_empty = line.empty();
    if (line.ends_with(kNote)) note = line.size() - kNote.size();
    if (was_empty) note = median = std::string::npos;
    if (note < line.size() && line.compare(note, 2, "  ") == 0) line.resize(note);
    // A line of a wrapped note alone.
    if (!was_empty && is_blank(line)) continue;
    if (const std::size_t end = Measurements::end_of_median(line); end != std::string::npos) {
      median = end;
      head = stable.size();
      line = line.substr(0, end) + Measurements::sorted(line.substr(end));
    } else if (median < line.size() && line[median] == ' ' && line.find("  ") < median) {
      line.resize(median);
    }
    stable.push_back(std::move(line));
  }
  return stable;
}

std::string difference(const std::vector<std::string>& all_shown, const std::vector<std::string>& all_printed) {
  const std::vector<std::string> shown = stable_lines(all_shown);
  const std::vector<std::string> printed = stable_lines(all_printed);
  std::size_t at = 0;
  bool any_lines = false;
  for (const std::string& line : shown) {
    if (is_any_lines(line)) {
      any_lines = true;
      continue;
    }
    const std::string shape = shape_of(line);
    const std::size_t from = at;
    while (any_lines && at < printed.size() && shape_of(printed[at]) != shape) ++at;
    if (at == printed.size()) return "not printed: " + line;
    if (shape_of(printed[at]) != shape) return "shown:   " + line + "\nprinted: " + printed[from];
    any_lines = false;
    ++at;
  }
  if (!any_lines && at < printed.size()) return "printed, and not shown: " + printed[at];
  return "";
}

}  // namespace tutti::docs
