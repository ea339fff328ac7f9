// SPDX-License-Identifier: Apache-2.0
#include "bench/results/decimal.hpp"

#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace tutti::harness {

namespace {

// As many as any double keeps of a decimal number.
constexpr int kDigits = 15;

double as_decimal(double value) {
  const std::string text = fmt::format("{:.{}g}", value, kDigits);
  double read = value;
  std::from_chars(text.data(), text.data() + text.size(), read);
  return read;
}

// Of doubles that are short decimal numbers the result is one too, but for the rounding of the last bit.
double tidied(double value, double result) {
  if (!std::isfinite(result) || as_decimal(value) != value) return result;
  return as_decimal(result);
}

}  // namespace

double times_power_of_ten(double value, double power) { return tidied(value, value * power); }
double over_power_of_ten(double value, double power) { return tidied(value, value / power); }

}  // namespace tutti::harness
