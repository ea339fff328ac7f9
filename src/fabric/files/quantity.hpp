// SPDX-License-Identifier: Apache-2.0
// Rates and times of fabrics with their units, as people write and read them: "25GB/s", "400Gb/s", "1.5us".
//
// They are measured and fitted, so they are not whole numbers, and rates count in powers of 1000 as those who sell
// links do. A number without a unit is an error. Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tutti::fabric {

// What stands for no limit, where a rate or a number could be one.
inline constexpr std::string_view kUnlimited = "unlimited";

// In bytes a nanosecond; "unlimited" is 0.
[[nodiscard]] Result<double> parse_rate(std::string_view text);

// In nanoseconds.
[[nodiscard]] Result<double> parse_time(std::string_view text);

// In the greatest unit that reads back to the same number.
[[nodiscard]] std::string rate_to_text(double bytes_per_nanosecond);
[[nodiscard]] std::string time_to_text(double nanoseconds);

}  // namespace tutti::fabric
