// SPDX-License-Identifier: Apache-2.0
// Figures as cells of tables. Pure; thread-safe.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "bench/results/decimal.hpp"
#include "bench/views/table.hpp"

namespace tutti::harness {

// Columns of what was measured: people read four digits, machines all.
inline constexpr int kMeasuredDigits = 4;

[[nodiscard]] inline Column measured(std::string name, std::size_t wrap_at = 0, bool is_aside = false) {
  return {.name = std::move(name), .wrap_at = wrap_at, .is_aside = is_aside, .digits = kMeasuredDigits};
}

// What is not a number is null.
[[nodiscard]] inline Cell figure(double value) { return std::isfinite(value) ? Cell(value) : Cell(); }

[[nodiscard]] inline Cell micros(double nanos) { return figure(over_power_of_ten(nanos, 1000)); }

[[nodiscard]] inline Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

}  // namespace tutti::harness
