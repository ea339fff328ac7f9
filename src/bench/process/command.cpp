// SPDX-License-Identifier: Apache-2.0
#include "bench/process/command.hpp"

#include <algorithm>

namespace tutti::harness {

namespace {

bool is_axis_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_letter);
}

// Calls `take` with the name and what it is to append to, for each name in braces; the rest is copied.
template <typename Take>
std::string replaced(std::string_view word, Take take) {
  std::string text;
  while (!word.empty()) {
    const std::size_t open = word.find('{');
    text += word.substr(0, open);
    if (open == std::string_view::npos) break;
    word.remove_prefix(open);
    const std::size_t close = word.find('}');
    const std::string_view name = close == std::string_view::npos ? "" : word.substr(1, close - 1);
    if (is_axis_name(name)) {
      take(name, text);
      word.remove_prefix(close + 1);
    } else {
      text += '{';
      word.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> places_in(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words)
    static_cast<void>(replaced(word, [&](std::string_view name, std::string&) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }));
  return names;
}

std::vector<std::string> with_values(const std::vector<std::string>& words, const Point& point, int num_ranks) {
  std::vector<std::string> all;
  all.reserve(words.size());
  for (const std::string& word : words) {
    all.push_back(replaced(word, [&](std::string_view name, std::string& text) {
      const Value* value = point.find(name);
      if (value != nullptr) {
        text += value->is_word() ? value->word() : value->text();
      } else if (name == kNumRanksAxis && num_ranks > 0) {
        text += std::to_string(num_ranks);
      } else {
        text += '{';
        text += name;
        text += '}';
      }
    }));
  }
  return all;
}

namespace {

// $'...', in which control characters and what is no text have escapes.
std::string in_escapes(std::string_view word) {
  std::string text;
  for (const char letter : word) {
    if (letter == '\'' || letter == '\\') text += '\\';
    text += letter;
  }
  return fmt::format("$'{}'", printable(text));
}

}  // namespace

std::string in_shell(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%{}";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    if (printable(word) != word) {
      text += in_escapes(word);
      continue;
    }
    text += '\'';
    for (const char letter : word) {
      if (letter == '\'') {
        text += "'\\''";
      } else {
        text += letter;
      }
    }
    text += '\'';
  }
  return text;
}

std::string name_of_program(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace tutti::harness
