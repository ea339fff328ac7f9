// SPDX-License-Identifier: Apache-2.0
// What the readers of outputs share: lines, words, numbers. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/outputs/reading.hpp"

namespace tutti::harness {

// Without their ends, be they Unix's or Windows'.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
// Parted by blanks; and by two or more of them, for headings such as "Avg Latency(us)".
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
[[nodiscard]] std::vector<std::string_view> columns_of(std::string_view line);

// Of the whole word; a number is finite.
[[nodiscard]] std::optional<double> to_number(std::string_view word);
[[nodiscard]] std::optional<std::int64_t> to_integer(std::string_view word);

// Whether a line begins like a row of numbers, also where it is cut off: one number alone, or two.
[[nodiscard]] bool begins_like_row(const std::vector<std::string_view>& words);

// "P50 Tail Lat(us)" as a name of a counter: "p50_tail_lat_us"; % is percent, and a slash is _per_.
[[nodiscard]] std::string counter_name(std::string_view heading);

// What stands behind the prefix, trimmed; nothing where the line begins otherwise.
[[nodiscard]] std::optional<std::string_view> behind(std::string_view line, std::string_view prefix);

inline constexpr double kMicro = 1e3;

// Takes a time as printed, in units of so many nanoseconds, or says why it is none.
void set_time(Reading& reading, std::string_view word, double unit);

}  // namespace tutti::harness
