// SPDX-License-Identifier: Apache-2.0
#include "simulate/copies.hpp"

#include <algorithm>

#include "algorithms/registry.hpp"
#include "data/message_size.hpp"

namespace tutti::simulate {

namespace {

// An all-reduce of one rank is a copy. A kernel makes it, and no message.
Result<Answer> simulate_copy(const fabric::Fabric& fabric, Options options, std::uint64_t count) {
  const Schedule copy = all_reduce::ring.make({.collective = Collective::all_reduce, .num_ranks = 1});
  options.count = count;
  options.counts = {};
  options.staged = false;
  options.recorder = nullptr;
  options.in_place = false;
  options.own_costs = true;
  const auto is_of_kernels = [](const fabric::Costs& costs) { return costs.channels != fabric::Channels::messages; };
  const auto of_kernels = std::find_if(fabric.costs.begin(), fabric.costs.end(), is_of_kernels);
  const bool has_them = is_of_kernels(fabric.costs[fabric.ranks.front().costs]);
  if (has_them || of_kernels == fabric.costs.end()) return simulate(copy, fabric, options);
  fabric::Fabric changed = fabric;
  for (fabric::RankPlacement& rank : changed.ranks)
    rank.costs = static_cast<std::uint32_t>(of_kernels - fabric.costs.begin());
  return simulate(copy, changed, options);
}

}  // namespace

Result<Answer> simulate_with_copies(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options,
                                    const OwnCopies& copies) {
  TUTTI_TRY_ASSIGN(Answer answer, simulate(schedule, fabric, options));
  const auto add = [&](Share share, double time) {
    answer.time += time;
    for (double& each : answer.rank_times) each += time;
    answer.shares.add(share, time);
  };
  const std::uint64_t whole = options.count * num_blocks(schedule.collective, schedule.num_ranks);
  if (copies.whole > 0) {
    TUTTI_TRY_ASSIGN(const Answer once, simulate_copy(fabric, options, whole));
    for (int share = 0; share < kNumShares; ++share)
      add(static_cast<Share>(share), copies.whole * once.shares.of(static_cast<Share>(share)));
  }
  if (copies.parts > 0) {
    TUTTI_TRY_ASSIGN(const Answer once, simulate_copy(fabric, options, whole / schedule.num_ranks));
    add(Share::copying, copies.parts * once.shares.of(Share::copying));
  }
  return answer;
}

}  // namespace tutti::simulate
