// SPDX-License-Identifier: Apache-2.0
// Two-shot all-reduce by reading alone: rank r folds piece r of every rank's input, in rank order, and exposes the
// result, which the others read.
//
// Meant for ranks that share memory but have no buffers in it, and for ranks that share cores: each waits twice a
// round, however many they are, and touches each byte four or five times where a flat exchange reads it once for each
// rank. Any number of ranks; no scratch. Right by name in place too, because piece r of every input is read by rank r
// alone.
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

constexpr std::uint32_t kInputs = 0;
constexpr std::uint32_t kResult = 1;

Lane steps(Builder& b) {
  const std::uint32_t own = b.rank();
  co_yield b.expose(b.input(0, b.num_ranks()));
  co_yield b.pull_reduce_all(kInputs, b.input(own), b.output(own));
  co_yield b.expose(b.output(own));
  for (std::uint32_t distance = 1; distance < b.num_ranks(); ++distance) {
    const std::uint32_t from = b.neighbour(distance);
    co_yield b.pull(from, kResult, b.output(from), b.output(from));
  }
  co_yield b.close();
}

Schedule make(const Request& request) { return one_lane(two_shot_pull, request, steps, request.num_ranks); }

}  // namespace

const Algorithm two_shot_pull = {
    .name = "two_shot_pull",
    .collective = Collective::all_reduce,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .name_safe = true,
    .name_safe_in_place = true,
    .method = "rank r folds piece r of all inputs and exposes the result, which all others read",
    .citation =
        "R. Rabenseifner, Optimization of collective reduction operations, ICCS 2004 (reduce-scatter, then "
        "all-gather; here both by load)",
    .make = make,
};

}  // namespace tutti::all_reduce
