#include "console.hpp"

#include <algorithm>
#include <array>
#include <cctype>
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

bool is_blank(std::string_view text) { return text.find_first_not_of(' ') == std::string_view::npos; }

bool names_store(std::string_view line) { return shape_of(line).starts_with("run # in ") && line.ends_with(".db"); }

bool is_any_lines(std::string_view line) { return line == "..."; }

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
  std::size_t note = std::string::npos;  // where the column begins, with the blanks in front of it
  for (std::string line : lines) {
    if (names_store(line)) continue;
    if (line.ends_with(kNote)) note = line.size() - kNote.size();
    if (line.empty()) note = std::string::npos;
    const bool was_empty = line.empty();
    if (note < line.size() && line.compare(note, 2, "  ") == 0) line.resize(note);
    // A line of a wrapped note alone.
    if (!was_empty && is_blank(line)) continue;
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
