// SPDX-License-Identifier: Apache-2.0
#include "bench/views/comparison_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

constexpr int kTimeDigits = 3;

int decimals_of(double ratio) {
  if (ratio >= 9.95) return 0;
  if (ratio >= 1.995) return 1;
  if (ratio >= 0.0995) return 2;
  return ratio > 0 ? 1 - static_cast<int>(std::floor(std::log10(ratio))) : 0;
}

// With a blank behind them.
std::string_view common_words(const std::vector<std::string>& names) {
  if (names.size() < 2) return "";
  std::string_view common = names.front();
  for (const std::string_view name : names) {
    const auto [end, ignored] = std::mismatch(common.begin(), common.end(), name.begin(), name.end());
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
  }
  return common.substr(0, common.rfind(' ') + 1);  // npos + 1 is 0
}

std::vector<std::string> without_common_words(const std::vector<std::string>& names) {
  const std::size_t common = common_words(names).size();
  std::vector<std::string> shorter;
  for (const std::string& name : names) shorter.push_back(name.substr(common));
  return shorter;
}

std::vector<std::string> letters_for(std::size_t count) {
  constexpr std::size_t kLetters = 26;
  std::vector<std::string> names;
  for (std::size_t each = 0; each < count; ++each) {
    std::string name;
    for (std::size_t rest = each + 1; rest > 0; rest = (rest - 1) / kLetters)
      name.insert(name.begin(), static_cast<char>('A' + (rest - 1) % kLetters));
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::string time_text(double nanos) {
  struct Unit {
    double nanos;
    std::string_view name;
  };
  constexpr auto kUnits = std::to_array<Unit>({{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}});
  std::size_t unit = 0;
  // What rounds to 1000 is 1 of the next.
  while (unit + 1 < kUnits.size() && nanos / kUnits[unit].nanos >= 999.5) ++unit;
  const double value = nanos / kUnits[unit].nanos;
  if (value == 0) return "0 ns";
  const int whole = value < 9.995 ? 1 : value < 99.95 ? 2 : 3;
  return fmt::format("{:.{}f} {}", value, kTimeDigits - whole, kUnits[unit].name);
}

std::string ratio_text(double ratio) { return fmt::format("{:.{}f}", ratio, decimals_of(ratio)); }

std::string interval_text(double ratio, const Interval& interval) {
  const int decimals = decimals_of(ratio);
  return fmt::format("[{:.{}f}, {:.{}f}]", interval.low, decimals, interval.high, decimals);
}

std::vector<std::string> called_by(Naming naming, const Comparison& comparison) {
  switch (naming) {
    case Naming::names: return comparison.competitors;
    case Naming::shortened: return without_common_words(comparison.competitors);
    case Naming::letters: return letters_for(comparison.competitors.size());
  }
  return {};
}

std::string legend_of(const Comparison& comparison, Naming naming, const TextStyle& style) {
  if (naming != Naming::letters) return "";
  const std::vector<std::string> letters = called_by(Naming::letters, comparison);
  const std::vector<std::string> names = called_by(Naming::shortened, comparison);
  // Short ones stand beside each other.
  constexpr std::size_t kShort = 24;
  const bool are_short =
      std::all_of(names.begin(), names.end(), [](const std::string& name) { return characters_of(name) <= kShort; });
  std::string text;
  std::string line;
  for (std::size_t each = 0; each < letters.size(); ++each) {
    const std::string entry = fmt::format("{}: {}", letters[each], printable(names[each]));
    if (are_short) {
      line += (line.empty() ? "" : ", ") + entry;
    } else {
      text += paragraph(entry, style, 3);
    }
  }
  return are_short ? paragraph(line, style, 2) : text;
}

std::string subject_of(const Comparison& comparison, const CaseNames& names, Naming naming) {
  if (naming == Naming::names) return names.shared;
  const std::string words = printable(trim(common_words(comparison.competitors)));
  return words + (words.empty() || names.shared.empty() ? "" : ": ") + names.shared;
}

std::string ratio_sentence(const std::vector<std::string>& called, std::string_view more) {
  return fmt::format("2.8× says that {} is 2.8 times as fast as {}{}", printable(called.front()),
                     called.size() == 2 ? printable(called.back()) : "the other", more);
}

}  // namespace tutti::harness
