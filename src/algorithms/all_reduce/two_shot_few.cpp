// SPDX-License-Identifier: Apache-2.0
// Two-shot all-reduce by reading alone, in which only k ranks fold: of the pieces of all inputs rank r < k folds piece
// r, in rank order, and exposes the result, which all others read.
//
// Meant for ranks that share cores: with as many that fold as there are cores no core does more, and the others wait
// once a round instead of twice, so that fewer turns are taken. Any number of ranks, any k from 2 on (k of N or more is
// two_shot_pull); no scratch. Right by name in place too, because piece r of every input is read by rank r alone.
#include <algorithm>

#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

constexpr std::uint32_t kInputs = 0;
constexpr std::uint32_t kResult = 1;

Lane steps(Builder& b, std::uint32_t num_folding) {
  const std::uint32_t own = b.rank();
  co_yield b.expose(b.input(0, num_folding));
  if (own < num_folding) {
    co_yield b.pull_reduce_all(kInputs, b.input(own), b.output(own));
    co_yield b.expose(b.output(own));
  }
  for (std::uint32_t distance = own < num_folding ? 1 : 0; distance < num_folding; ++distance) {
    const std::uint32_t from = (own + distance) % num_folding;
    co_yield b.pull(from, kResult, b.output(from), b.output(from));
  }
  co_yield b.close();
}

Schedule make(const Request& request) {
  const std::uint32_t num_folding = std::min(request.parameters.radix, request.num_ranks);
  Schedule schedule = header_of(two_shot_few, request, num_folding);
  schedule.lane = [num_folding](Builder& b, std::uint32_t) { return steps(b, num_folding); };
  return schedule;
}

}  // namespace

const Algorithm two_shot_few = {
    .name = "two_shot_few",
    .collective = Collective::all_reduce,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .name_safe = true,
    .name_safe_in_place = true,
    .takes = {.radix = true},
    .method = "k ranks fold a piece each of all inputs and expose the results, which all others read",
    .citation =
        "R. Rabenseifner, Optimization of collective reduction operations, ICCS 2004 (reduce-scatter, then "
        "all-gather; here both by load, and by a few ranks)",
    .make = make,
};

}  // namespace tutti::all_reduce
