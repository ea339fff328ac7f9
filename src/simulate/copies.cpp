// SPDX-License-Identifier: Apache-2.0
#include "simulate/copies.hpp"

#include "algorithms/registry.hpp"
#include "data/message_size.hpp"

namespace tutti::simulate {

Result<Answer> simulate_with_copies(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options,
                                    std::uint32_t copies) {
  TUTTI_TRY_ASSIGN(Answer answer, simulate(schedule, fabric, options));
  if (copies == 0) return answer;
  // An all-reduce of one rank is a copy. A kernel makes it, and no message.
  const Schedule copy = all_reduce::ring.make({.collective = Collective::all_reduce, .num_ranks = 1});
  Options of_copy = options;
  of_copy.count = options.count * num_blocks(schedule.collective, schedule.num_ranks);
  of_copy.counts = {};
  of_copy.staged = false;
  of_copy.recorder = nullptr;
  of_copy.in_place = false;
  TUTTI_TRY_ASSIGN(const Answer once, simulate(copy, fabric, of_copy));
  answer.time += copies * once.time;
  for (double& time : answer.rank_times) time += copies * once.time;
  for (int share = 0; share < kNumShares; ++share) {
    const auto which = static_cast<Share>(share);
    answer.shares.add(which, copies * once.shares.of(which));
  }
  return answer;
}

}  // namespace tutti::simulate
