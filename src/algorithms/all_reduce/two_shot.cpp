// SPDX-License-Identifier: Apache-2.0
// Two-shot all-reduce on symmetric memory: rank r folds piece r of every rank's input, in rank order, and stores the
// result into every rank's output in the same pass.
//
// Meant for large messages in symmetric memory: each byte is read once and written once per rank that needs it, with
// no staging. Any number of ranks; no scratch. In place it is right by name, because piece r of every input is read
// by rank r alone.
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

constexpr std::uint32_t kOpened = 0;
constexpr std::uint32_t kExposed = 1;
constexpr std::uint32_t kDone = 2;

Lane steps(Builder& b) {
  const std::uint32_t all = b.num_ranks();
  const std::uint32_t own = b.rank();
  co_yield b.open(b.output(0, all));
  co_yield b.expose(b.input(0, all));
  co_yield b.pull_reduce_all(kExposed, b.input(own), b.output(own));
  if (all > 1) co_yield b.push_to_all_others(kOpened, b.output(own), b.output(own));
  co_yield b.signal();
  co_yield b.wait_for_all_others(kDone);
}

Schedule make(const Request& request) { return one_lane(two_shot, request, steps, request.num_ranks); }

}  // namespace

const Algorithm two_shot = {
    .name = "two_shot",
    .collective = Collective::all_reduce,
    .channel = Channel::symmetric,
    .order = OrderClass::ordered,
    .method = "rank r folds piece r of all inputs in place and stores the result into every rank's output",
    .citation =
        "R. Rabenseifner, Optimization of collective reduction operations, ICCS 2004 (reduce-scatter, then "
        "all-gather; here both by load and store)",
    .make = make,
};

}  // namespace tutti::all_reduce
