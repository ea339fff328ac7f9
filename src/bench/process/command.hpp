// SPDX-License-Identifier: Apache-2.0
// A program with its arguments, in which the axes of a sweep have places: {NAME}. Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/axes/case.hpp"

namespace tutti::harness {

inline constexpr std::string_view kNumRanksAxis = "num_ranks";
// What the rows of a program have as their peer where nobody has named it.
inline constexpr std::string_view kUnnamedProgram = "command";

// The names that stand in braces, each once. Braces around anything else (awk '{ print $1 }') are the program's own.
[[nodiscard]] std::vector<std::string> places_in(const std::vector<std::string>& words);

// The words with the values of the point and the number of ranks in their places, numbers as they are ("1M" has become
// 1048576) and words without quotes. Names that are neither stay as they stand.
[[nodiscard]] std::vector<std::string> with_values(const std::vector<std::string>& words, const Point& point,
                                                   int num_ranks);

// As one would type it in a shell.
[[nodiscard]] std::string in_shell(const std::vector<std::string>& words);

// "all_reduce_perf" of "./build/all_reduce_perf".
[[nodiscard]] std::string name_of_program(std::string_view path);

}  // namespace tutti::harness
