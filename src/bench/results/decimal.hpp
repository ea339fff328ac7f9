// SPDX-License-Identifier: Apache-2.0
// Decimal figures in other units. Pure; thread-safe.
#pragma once

namespace tutti::harness {

// `value` times a power of ten, or divided by one. A value of up to 15 decimal digits keeps exactly these: 1.005 times
// 1000 is 1005, where the product of the two doubles is 1004.9999999999999.
[[nodiscard]] double times_power_of_ten(double value, double power);
[[nodiscard]] double over_power_of_ten(double value, double power);

}  // namespace tutti::harness
