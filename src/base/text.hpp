// SPDX-License-Identifier: Apache-2.0
// Small questions about text that messages and parsers ask: trimming, names that count as the same, the nearest known
// name, and text made safe to show. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// Without blanks (space, tab, carriage return) at either end.
[[nodiscard]] std::string_view trim(std::string_view text);

// The parts between separators, each trimmed; "a,,b" has an empty part in the middle, "" has one empty part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// Whether two names mean the same: letters in either case, hyphen and underscore alike.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

// How many insertions, deletions, replacements or swaps of neighbours turn `a` into `b`, by the rules of same_name.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the least edit distance, the first of several. Empty if none is near enough to be a typo: about
// one edit in three letters, at most three edits.
[[nodiscard]] std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

// For the end of a message: "; the nearest is 'ring'", or nothing where no candidate is near.
[[nodiscard]] std::string nearest_hint(std::string_view name, std::span<const std::string_view> candidates);

// The offset of the first byte that is not valid UTF-8, or npos.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view text);

// With control characters and invalid UTF-8 as \x1b, so that a terminal or a log shows it and does not obey it.
[[nodiscard]] std::string printable(std::string_view text);

// For messages: printable, between single quotes, cut after about 80 bytes.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace tutti
