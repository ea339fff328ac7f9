// Numbers as cells of tables. Pure; thread-safe.
#pragma once

#include <cmath>
#include <string>

#include "bench/table.hpp"

namespace tutti::harness {

// Four digits that mean something; what is not a number is null.
[[nodiscard]] inline Cell rounded(double value) {
  if (!std::isfinite(value)) return {};
  if (value == 0) return 0.0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

[[nodiscard]] inline Cell micros(double nanos) { return rounded(nanos / 1000); }

[[nodiscard]] inline Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

}  // namespace tutti::harness
