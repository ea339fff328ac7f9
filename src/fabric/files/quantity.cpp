// SPDX-License-Identifier: Apache-2.0
#include "fabric/files/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::fabric {

namespace {

struct NamedUnit {
  std::string_view suffix;
  double factor;
  bool is_written = true;  // beside being read
};

struct Quantity {
  std::string_view noun;
  std::string_view right;
  std::span<const NamedUnit> units;  // the greatest first
  double least;                      // but for 0
  double greatest;
};

constexpr auto kRateUnits = std::to_array<NamedUnit>({
    {"TB/s", 1e3},
    {"GB/s", 1},
    {"MB/s", 1e-3},
    {"KB/s", 1e-6},
    {"B/s", 1e-9},
    {"TiB/s", 1099.511627776, false},
    {"GiB/s", 1.073741824, false},
    {"MiB/s", 1048576e-9, false},
    {"KiB/s", 1024e-9, false},
    {"Tb/s", 1e3 / 8, false},
    {"Gb/s", 1.0 / 8, false},
    {"Mb/s", 1e-3 / 8, false},
    {"Kb/s", 1e-6 / 8, false},
});
constexpr auto kTimeUnits = std::to_array<NamedUnit>({
    {"s", 1e9},
    {"ms", 1e6},
    {"us", 1e3},
    {"ns", 1},
    {"ps", 1e-3, false},
    {"\u00b5s", 1e3, false},  // micro sign
    {"\u03bcs", 1e3, false},  // Greek mu
});

constexpr Quantity kRate{"a rate", "write a number and a unit, such as 25GB/s or 400Gb/s, or unlimited", kRateUnits,
                         1e-9, 1e12};
constexpr Quantity kTime{"a time", "write a number and ns, us, ms or s, such as 1.5us", kTimeUnits, 0, 1e15};

Result<double> parse(std::string_view given, const Quantity& quantity) {
  const auto wrong = [&](std::string_view why) {
    return Status(Code::invalid_argument,
                  fmt::format("{} is not {}: {}; {}", in_quotes(given), quantity.noun, why, quantity.right));
  };
  const std::string_view text = trim(given);
  if (text.empty()) return wrong("there is nothing");
  if (text.front() == '-') return wrong("it is negative");
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return wrong("its number is too large or too small");
  if (error != std::errc()) return wrong("it does not begin with a number");
  if (!std::isfinite(number)) return wrong("that is no number");
  const std::string_view suffix = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  if (suffix.empty()) return wrong("it has no unit");
  for (const NamedUnit& unit : quantity.units) {
    if (unit.suffix != suffix) continue;
    const double value = number * unit.factor;
    if (value > quantity.greatest) return wrong("it is too large");
    if (value < quantity.least) return wrong("it is too small");
    return value;
  }
  return wrong(fmt::format("{} is not a unit", in_quotes(suffix)));
}

// `value` is not 0.
std::string write(double value, const Quantity& quantity) {
  for (const NamedUnit& unit : quantity.units) {
    if (!unit.is_written || value < unit.factor) continue;
    // Twelve digits are shorter where they say the same.
    std::string text = fmt::format("{:.12g}{}", value / unit.factor, unit.suffix);
    if (const Result<double> again = parse(text, quantity); again.ok() && *again == value) return text;
  }
  // In the unit that the number has already nothing is rounded.
  return fmt::format("{}{}", value, &quantity == &kRate ? "GB/s" : "ns");
}

}  // namespace

Result<double> parse_rate(std::string_view text) {
  if (same_name(trim(text), kUnlimited)) return 0.0;
  return parse(text, kRate);
}

Result<double> parse_time(std::string_view text) { return parse(text, kTime); }

std::string rate_to_text(double bytes_per_nanosecond) {
  return bytes_per_nanosecond == 0 ? std::string(kUnlimited) : write(bytes_per_nanosecond, kRate);
}

std::string time_to_text(double nanoseconds) {
  return nanoseconds == 0 ? std::string("0ns") : write(nanoseconds, kTime);
}

}  // namespace tutti::fabric
