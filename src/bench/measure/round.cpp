// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/round.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::harness {

Round round_of(const std::vector<Json>& answers, std::size_t iterations, Sync sync) {
  std::vector<std::vector<std::int64_t>> starts;
  std::vector<std::vector<std::int64_t>> ends;
  std::vector<bool> is_late(iterations);
  for (const Json& answer : answers) {
    const Json& samples = answer.at("samples");
    starts.push_back(samples.at("starts").get<std::vector<std::int64_t>>());
    ends.push_back(samples.at("ends").get<std::vector<std::int64_t>>());
    if (starts.back().size() != iterations || ends.back().size() != iterations)
      throw Json::other_error::create(
          501, fmt::format("{} samples where {} were ordered", starts.back().size(), iterations), &samples);
    for (const Json& late : samples.at("late")) is_late.at(late.get<std::size_t>()) = true;
  }
  Round round;
  std::vector<double> all;
  for (std::size_t each = 0; each < iterations; ++each) {
    std::int64_t first = starts[0][each];
    std::int64_t last = ends[0][each];
    double sum = 0;
    for (std::size_t rank = 0; rank < starts.size(); ++rank) {
      first = std::min(first, starts[rank][each]);
      last = std::max(last, ends[rank][each]);
      sum += static_cast<double>(ends[rank][each] - starts[rank][each]);
    }
    const double time =
        sync == Sync::round ? static_cast<double>(last - first) : sum / static_cast<double>(starts.size());
    all.push_back(time);
    if (is_late[each]) {
      ++round.invalid;
    } else {
      round.samples.push_back(time);
    }
  }
  if (sync != Sync::round && iterations > 1) {
    round.around = static_cast<double>(starts[0][iterations - 1] - starts[0][0]) / static_cast<double>(iterations - 1);
  } else if (!all.empty()) {
    round.around = median_of(all);
  }
  return round;
}

}  // namespace tutti::harness
