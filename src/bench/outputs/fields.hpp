// SPDX-License-Identifier: Apache-2.0
// What a named field of an output means, for the formats in which users name them: a time, a size, a number of ranks,
// what tells rows apart, or a figure. Pure functions; thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "bench/outputs/reading.hpp"

namespace tutti::harness {

// The nanoseconds of a unit (ns, us, ms, s); of a name that ends in one: "time_us".
[[nodiscard]] std::optional<double> unit_named(std::string_view unit);
[[nodiscard]] std::optional<double> unit_behind(std::string_view name);

// The names of times that need no telling: time_ns, time_us, time_ms, time_s.
[[nodiscard]] bool is_time_field(std::string_view name);

// A field that is not the time: bytes (sizes such as 4K are read), num_ranks, a figure where it is a number, else a
// value that tells rows apart; in_place and root are values too, and benchmark says which of several it is.
void set_field(Reading& reading, std::string_view name, std::string_view text);

}  // namespace tutti::harness
