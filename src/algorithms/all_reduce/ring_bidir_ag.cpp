// SPDX-License-Identifier: Apache-2.0
// Ring all-reduce with a bidirectional all-gather: the reduce-scatter goes around to the right as in the ring; then
// finished shards go out both ways at once.
//
// N shards, one piece each. Reduce-scatter: N-1 rounds to the right, after which rank r owns shard (r+1) mod N.
// All-gather: ceil((N-1)/2) rounds to the right and, at the same time, floor((N-1)/2) rounds to the left. So there are
// (N-1) + ceil((N-1)/2) rounds instead of the ring's 2(N-1), with as much sent: 2·n·(N-1)/N a rank. Meant for medium
// and large messages. Any number of ranks, and any count; no scratch. Two lanes, the second for the way to the left;
// up to two ranks have nothing to go left.
#include "algorithms/parts/ring.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

using parts::Ring;
using parts::ring_of_all;

Lane to_the_right(Builder& b) {
  const Ring ring = ring_of_all(b, false, 1);
  const std::uint32_t n = b.num_ranks();
  if (n == 1) {
    b.completing();
    co_yield b.copy(b.input(), b.output());
    co_return;
  }
  for (Lane turn = fold_around(b, ring, {}, Space::input, true); const Step* step = turn.next();) co_yield *step;
  // ceil((n-1)/2) ranks to the right, and the others to the left.
  for (Lane turn = hand_around(b, ring, {}, n / 2); const Step* step = turn.next();) co_yield *step;
}

Lane to_the_left(Builder& b) {
  const Ring ring = ring_of_all(b, true, 1);
  b.after(0, num_steps_of_fold(ring) - 1);
  for (Lane turn = hand_around(b, ring, {}, (b.num_ranks() - 1) / 2); const Step* step = turn.next();) co_yield *step;
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(ring_bidir_ag, request, request.num_ranks, request.num_ranks <= 2 ? 1 : 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? to_the_right(b) : to_the_left(b); };
  return schedule;
}

}  // namespace

const Algorithm ring_bidir_ag = {
    .name = "ring_bidir_ag",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "shards are reduced on their way around the ring to the right, then handed out both ways at once",
    .citation =
        "P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "JPDC 69(2), 2009 (the ring; here with an all-gather in both directions)",
    .make = make,
};

}  // namespace tutti::all_reduce
