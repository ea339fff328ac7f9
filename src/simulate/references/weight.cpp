// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/weight.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace tutti::simulate {

double weight_of(std::span<const Evidence> evidence) {
  struct Sums {
    double products = 0;
    double squares = 0;
  };
  std::map<std::string_view, Sums> by_series;
  Sums all;
  for (const Evidence& each : evidence) {
    for (Sums* sums : {&all, &by_series[each.series]}) {
      sums->products += each.expected * each.found;
      sums->squares += each.expected * each.expected;
    }
  }
  const auto num_series = static_cast<double>(by_series.size());
  if (all.products <= 0 || num_series < 2) return 0;
  const double slope = all.products / all.squares;
  double variance = 0;
  for (const auto& [series, sums] : by_series) {
    const double rest = (sums.products - slope * sums.squares) / all.squares;
    variance += rest * rest * num_series / (num_series - 1);
  }
  return std::clamp(slope - variance / slope, 0.0, 1.0);
}

}  // namespace tutti::simulate
