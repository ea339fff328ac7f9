// SPDX-License-Identifier: Apache-2.0
// What figures say of the parameters that were fitted to them: how far each may be moved until what is simulated gets
// worse, and which bars it misses where it is moved by a fifth. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "simulate/references/against.hpp"
#include "simulate/references/references.hpp"

namespace tutti::simulate {

// The loss may be so much higher within a parameter's interval; beyond a factor of kFar either way nothing is looked
// at.
inline constexpr double kLossWithin = 1.05;
inline constexpr double kFar = 4;
// A parameter is moved by that much for the bars.
inline constexpr double kMoved = 1.2;

// The other parameters stay as they are.
struct Sensitivity {
  const FitParameter* parameter = nullptr;
  double low = 1;   // of its value; 1 / kFar: or less
  double high = 1;  // kFar: or more
  // Series whose bars are missed with 1 / kMoved and kMoved of its value.
  std::vector<std::string_view> missed_below;
  std::vector<std::string_view> missed_above;

  // Moved either way it misses a bar.
  [[nodiscard]] bool is_determined() const { return !missed_below.empty() && !missed_above.empty(); }
};

// Of each of the fit's parameters, with the values that the file has. Intervals take most of the time.
[[nodiscard]] Result<std::vector<Sensitivity>> sensitivities_of(const References& references, const Fit& fit,
                                                                bool with_intervals);

// What a bar is held against. Of figures of one series.
[[nodiscard]] double error_of_series(const Series& series, const std::vector<Compared>& all);

// The fit's parameters as the file has them.
[[nodiscard]] std::vector<ParameterValue> values_of(const Fit& fit);

}  // namespace tutti::simulate
