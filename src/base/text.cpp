// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace tutti {

namespace {

constexpr std::size_t kShownBytes = 80;

// Locale-free, so that a name means the same everywhere.
constexpr char folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

// How many wrong letters a name may have and still count as a typo of another name.
constexpr std::size_t most_edits(std::string_view name) { return std::min<std::size_t>((name.size() + 1) / 3, 3); }

constexpr bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The length of the valid UTF-8 sequence that `text` begins with, 0 where there is none (Unicode 15, table 3-7).
std::size_t utf8_sequence(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), is_continuation)) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool beyond = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return folded(x) == folded(y); });
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of optimal string alignment: a swap looks two rows back.
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = folded(a[i - 1]);
      const char y = folded(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == folded(b[j - 2]) && y == folded(a[i - 2])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  std::size_t least = most_edits(name) + 1;
  for (const std::string_view candidate : candidates) {
    if (const std::size_t distance = edit_distance(name, candidate); distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string nearest_hint(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view nearest = nearest_name(name, candidates);
  return nearest.empty() ? std::string() : fmt::format("; the nearest is '{}'", nearest);
}

std::size_t first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    const auto byte = static_cast<unsigned char>(text.front());
    // U+0080 to U+009F are control characters as well; a terminal may obey them.
    const bool high_control = length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (length == 0 || byte < 0x20 || byte == 0x7F || high_control) {
      const std::size_t escaped = std::max<std::size_t>(length, 1);
      for (std::size_t i = 0; i < escaped; ++i) {
        shown += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(text[i])));
      }
      text.remove_prefix(escaped);
    } else {
      shown += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return shown;
}

std::string in_quotes(std::string_view text) {
  if (text.size() <= kShownBytes) return fmt::format("'{}'", printable(text));
  std::size_t end = kShownBytes;
  while (end > kShownBytes - 4 && is_continuation(text[end])) --end;  // not in the middle of a character
  return fmt::format("'{}...' ({} bytes)", printable(text.substr(0, end)), text.size());
}

}  // namespace tutti
