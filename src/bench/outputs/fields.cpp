// SPDX-License-Identifier: Apache-2.0
#include "bench/outputs/fields.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/outputs/words.hpp"

namespace tutti::harness {

namespace {

struct Unit {
  std::string_view name;
  double nanos;
};
constexpr std::array<Unit, 4> kUnits = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

}  // namespace

std::optional<double> unit_named(std::string_view unit) {
  for (const Unit& each : kUnits)
    if (same_name(each.name, unit)) return each.nanos;
  return std::nullopt;
}

std::optional<double> unit_behind(std::string_view name) {
  const std::size_t part = name.rfind('_');
  return part == std::string_view::npos ? std::nullopt : unit_named(name.substr(part + 1));
}

bool is_time_field(std::string_view name) { return name.starts_with("time_") && unit_named(name.substr(5)); }

void set_field(Reading& reading, std::string_view name, std::string_view text) {
  const auto number = to_number(text);
  const auto integer = to_integer(text);
  if (name == "bytes") {
    const Result<Bytes> bytes = parse_bytes(text);
    if (bytes.ok() && bytes->value() < (std::uint64_t{1} << 62)) {
      reading.bytes = static_cast<std::int64_t>(bytes->value());
    } else {
      reading.problem = fmt::format("bytes is {}, which is no size", in_quotes(text));
    }
  } else if (name == "num_ranks" && integer && *integer > 0) {
    reading.num_ranks = static_cast<int>(std::min<std::int64_t>(*integer, 1 << 24));
  } else if (name == "benchmark") {
    reading.benchmark = printable(text);
  } else if (number && name != "in_place" && name != "root") {
    reading.counters[printable(name)] = *number;
  } else {
    reading.values.emplace_back(printable(name), integer ? Value(*integer) : Value(printable(text)));
  }
}

}  // namespace tutti::harness
