// SPDX-License-Identifier: Apache-2.0
// Ring all-gather: every block travels N-1 places to the right; each rank on its way keeps it and passes it on.
//
// Meant for large blocks: N-1 steps, one message each, and N-1 blocks sent per rank, which is the least there can be.
// Any number of ranks; no scratch. Blocks may differ in size, but then every step takes as long as the largest.
#include "algorithms/parts/ring.hpp"

#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

Lane steps(Builder& b) {
  co_yield b.copy(b.input(), b.output_block(b.rank()));
  for (Lane turn = parts::hand_around(b, parts::ring_of_all(b), {.are_blocks = true}, b.num_ranks() - 1);
       const Step* step = turn.next();)
    co_yield *step;
}

Schedule make(const Request& request) { return one_lane(ring, request, steps); }

}  // namespace

constexpr Algorithm ring = {
    .name = "ring",
    .collective = Collective::all_gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "every block travels once around the ring",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, "
        "IJHPCA 19(1), 2005",
    .make = make,
};

}  // namespace tutti::all_gather

namespace tutti::all_gather_v {

constinit const Algorithm ring = varying(all_gather::ring, Collective::all_gather_v);

}  // namespace tutti::all_gather_v
