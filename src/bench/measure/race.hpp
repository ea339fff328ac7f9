// SPDX-License-Identifier: Apache-2.0
// A race: one case in several groups that take turns, for the fastest of them. Who is surely slower is dropped, so that
// time is spent on those between whom it is open. Blocks; one thread.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "bench/measure/measure.hpp"
#include "bench/process/live_group.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

struct RaceOptions {
  MeasureOptions measure;        // budget.seconds are of the whole race; with sync, check and is_interrupted
  std::size_t least_rounds = 6;  // before the winner is called that
  std::size_t most_rounds = 16;
  // Nobody is dropped: all have all rounds, as a reference wants it.
  bool drops = true;
};

struct Racer {
  Row row;
  bool is_dropped = false;
};

// In the order of the groups. Of one that was dropped the row has the rounds until then.
[[nodiscard]] std::vector<Racer> race(const std::string& bench, const std::vector<LiveGroup*>& groups,
                                      const Point& point, const RaceOptions& options, std::mt19937_64& random);

// Whether someone whose rounds are `mine` is surely slower than the leader, whose rounds of the same times are
// `leader`. Pure. The fewer rounds there are the slower one has to look.
[[nodiscard]] bool is_surely_slower(const std::vector<double>& mine, const std::vector<double>& leader);

}  // namespace tutti::harness
