// SPDX-License-Identifier: Apache-2.0
#include "benches/peers/score.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tutti::bars {

Verdict verdict_of(const Figure& figure) {
  if (!figure.least && !figure.most) return Verdict::shown;
  if (!figure.value) return Verdict::missed;
  if (figure.least) return *figure.value >= *figure.least ? Verdict::met : Verdict::missed;
  const double lowest = figure.interval ? std::min(figure.interval->low, *figure.value) : *figure.value;
  return lowest <= *figure.most ? Verdict::met : Verdict::missed;
}

std::optional<double> geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::map<std::int64_t, double> over_interpolation(const Times& times) {
  std::map<std::int64_t, double> found;
  const auto logarithm = [](std::int64_t bytes) { return std::log(static_cast<double>(bytes)); };
  for (auto at = times.begin(); at != times.end(); ++at) {
    const auto next = std::next(at);
    if (at == times.begin() || next == times.end()) continue;
    const auto before = std::prev(at);
    const double place =
        (logarithm(at->first) - logarithm(before->first)) / (logarithm(next->first) - logarithm(before->first));
    const double line = std::log(before->second.us) * (1 - place) + std::log(next->second.us) * place;
    found[at->first] = at->second.us / std::exp(line);
  }
  return found;
}

std::map<std::int64_t, Step> over_next(const Times& times) {
  std::map<std::int64_t, Step> found;
  for (auto at = times.begin(); at != times.end(); ++at) {
    const auto next = std::next(at);
    if (next == times.end()) break;
    const Time& own = at->second;
    const Time& larger = next->second;
    found[at->first] = {own.us / larger.us,
                        {own.interval.low / larger.interval.high, own.interval.high / larger.interval.low}};
  }
  return found;
}

}  // namespace tutti::bars
