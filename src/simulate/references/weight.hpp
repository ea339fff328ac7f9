// SPDX-License-Identifier: Apache-2.0
// How much of a correction holds where it was not seen. Pure; thread-safe.
#pragma once

#include <span>
#include <string>

namespace tutti::simulate {

// A time that was left out, beside what a correction made without it says.
struct Evidence {
  std::string series;   // errors of one series are alike
  double expected = 0;  // logarithm of measured / simulated
  double found = 0;
};

// The share of a correction to make, from 0 to 1. It is the slope of what was found over what was expected, shrunk by
// what may be chance (as James and Stein 1961, positive part). The variance of the slope counts each series as one
// observation (the sandwich of Liang and Zeger 1986). With fewer than two series the share is 0.
[[nodiscard]] double weight_of(std::span<const Evidence> evidence);

}  // namespace tutti::simulate
