// SPDX-License-Identifier: Apache-2.0
#include "bench/outputs/words.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/results/decimal.hpp"

namespace tutti::harness {

namespace {

bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

// The parts between runs of at least `least` blanks; a tab is as good as any number of them.
std::vector<std::string_view> parted(std::string_view line, std::size_t least) {
  std::vector<std::string_view> parts;
  std::size_t begin = std::string_view::npos;  // of the part at hand
  std::size_t blanks = least;                  // in front of the place at hand
  for (std::size_t place = 0; place < line.size(); ++place) {
    if (is_blank(line[place])) {
      blanks += line[place] == '\t' ? least : 1;
      continue;
    }
    if (blanks >= least && begin != std::string_view::npos) parts.push_back(trim(line.substr(begin, place - begin)));
    if (blanks >= least) begin = place;
    blanks = 0;
  }
  if (begin != std::string_view::npos) parts.push_back(trim(line.substr(begin)));
  return parts;
}

template <typename Number>
std::optional<Number> whole(std::string_view word) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace

void Output::note_unread(std::string_view line) {
  if (num_unread++ == 0) first_unread = in_quotes(trim(line));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    while (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) { return parted(line, 1); }
std::vector<std::string_view> columns_of(std::string_view line) { return parted(trim(line), 2); }

std::optional<double> to_number(std::string_view word) {
  const std::optional<double> number = whole<double>(word);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> to_integer(std::string_view word) { return whole<std::int64_t>(word); }

bool begins_like_row(const std::vector<std::string_view>& words) {
  if (words.empty() || !to_number(words[0])) return false;
  return words.size() == 1 || to_number(words[1]).has_value();
}

std::string counter_name(std::string_view heading) {
  std::string name;
  const auto part = [&] {
    if (!name.empty() && name.back() != '_') name += '_';
  };
  for (const char letter : heading) {
    if (letter >= 'A' && letter <= 'Z') {
      name += static_cast<char>(letter - 'A' + 'a');
    } else if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9')) {
      name += letter;
    } else {
      part();
      if (letter == '%') name += "percent";
      if (letter == '/') name += "per_";
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

std::optional<std::string_view> behind(std::string_view line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return std::nullopt;
  return trim(line.substr(prefix.size()));
}

void set_time(Reading& reading, std::string_view word, double unit) {
  const std::optional<double> number = to_number(word);
  if (number && *number > 0 && std::isfinite(*number * unit)) {
    reading.nanos = times_power_of_ten(*number, unit);
  } else {
    reading.problem = fmt::format("the time that was printed is {}, which is none", in_quotes(word));
  }
}

}  // namespace tutti::harness
