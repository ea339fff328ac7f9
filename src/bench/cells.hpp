// Numbers as cells of tables. Pure; thread-safe.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <variant>

#include <fmt/format.h>

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

// As people read it; of nothing a hyphen.
[[nodiscard]] inline std::string text_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
  return "-";
}

}  // namespace tutti::harness
