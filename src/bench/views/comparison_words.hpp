// SPDX-License-Identifier: Apache-2.0
// Times, ratios and names as the views of comparisons write them. Pure; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/statistics.hpp"
#include "bench/results/comparison.hpp"
#include "bench/views/case_names.hpp"
#include "bench/views/text_grid.hpp"

namespace tutti::harness {

// Three digits and a unit: "124 ns", "1.03 us", "17.1 ms".
[[nodiscard]] std::string time_text(double nanos);

// As many decimals as the size of the ratio makes readable: "0.36", "1.03", "2.8", "12".
[[nodiscard]] std::string ratio_text(double ratio);
// "[2.6, 3.0]" with the decimals of the ratio.
[[nodiscard]] std::string interval_text(double ratio, const Interval& interval);

// What competitors are called, the most telling first: by their names; without the words with which all of these begin
// ("openmpi ring" and "openmpi default"), which stand above the table then; or by letters.
enum class Naming : std::uint8_t { names, shortened, letters };
inline constexpr std::array<Naming, 3> kNamings = {Naming::names, Naming::shortened, Naming::letters};
[[nodiscard]] std::vector<std::string> called_by(Naming naming, const Comparison& comparison);

// Whose letters they are: "A: ring, B: default"; empty where there are names.
[[nodiscard]] std::string legend_of(const Comparison& comparison, Naming naming, const TextStyle& style);

// What all rows are of: "all_reduce on 2 ranks, type=f32", behind the words that names are shortened by.
[[nodiscard]] std::string subject_of(const Comparison& comparison, const CaseNames& names, Naming naming);

// The sentence that says what the ratios are of: "2.8×: a is 2.8 times as fast as b", with more behind it.
[[nodiscard]] std::string ratio_sentence(const std::vector<std::string>& called, std::string_view more);

}  // namespace tutti::harness
