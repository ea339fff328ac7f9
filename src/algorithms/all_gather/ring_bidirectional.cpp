// SPDX-License-Identifier: Apache-2.0
// All-gather on a ring in both directions: every block travels to the right and to the left at once, halfway around
// each, so that all ranks have it after half as many steps as on the one-way ring.
//
// Meant for large blocks where links carry both directions at once: floor(N/2) steps, one message a direction, and N-1
// blocks sent per rank, the least there can be. With an even number of ranks the opposite block comes from the left,
// so one direction has one block more. Any number of ranks; no scratch. A lane for each direction.
#include "algorithms/parts/ring.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

using parts::hand_around;
using parts::ring_of_all;

constexpr parts::Chunks kBlocks = {.are_blocks = true};

Lane to_the_right(Builder& b) {
  co_yield b.copy(b.input(), b.output_block(b.rank()));
  for (Lane turn = hand_around(b, ring_of_all(b), kBlocks, b.num_ranks() / 2); const Step* step = turn.next();)
    co_yield *step;
}

Lane to_the_left(Builder& b) {
  b.after(0, 0);  // the copy of the own block
  for (Lane turn = hand_around(b, ring_of_all(b, true), kBlocks, (b.num_ranks() - 1) / 2);
       const Step* step = turn.next();)
    co_yield *step;
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(ring_bidirectional, request, 1, 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? to_the_right(b) : to_the_left(b); };
  return schedule;
}

}  // namespace

const Algorithm ring_bidirectional = {
    .name = "ring_bidirectional",
    .collective = Collective::all_gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "every block travels halfway around the ring in both directions",
    .citation =
        "E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, Collective communication: theory, practice, and "
        "experience, CCPE 19(13), 2007 (the bucket algorithm, here both ways)",
    .make = make,
};

}  // namespace tutti::all_gather
