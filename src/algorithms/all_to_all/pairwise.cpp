// SPDX-License-Identifier: Apache-2.0
// Pairwise all-to-all: in step s every rank sends a block to one rank and receives one from another, at the same
// distance to either side, so that each step is a shift of all ranks.
//
// Meant for large blocks: N-1 blocks sent per rank, which is the least there can be, in N-1 steps. Any number of ranks;
// no scratch. With blocks of different sizes it is the same.
//
// The order. The distances are 1, -1, 2, -2 and so on. A shift brings every rank one message, and what leaves a switch
// of a fat tree is for ranks that follow each other, which its links upwards share evenly. Steps of opposite distances
// load both ways of a ring or torus alike. The pairs of a round-robin tournament do neither: a step reflects the ranks.
//
// A rank sends kAhead blocks before it receives the first, so that latencies overlap. More than a few would queue in
// the network, and in staging slots that leave the cache.
//
// In place a block replaces the one for the same rank, which must have been sent: that is for the opposite distance,
// one step before or behind. So a rank must send at least one block ahead.
#include <algorithm>

#include "algorithms/registry.hpp"

namespace tutti::all_to_all {

namespace {

constexpr std::uint32_t kAhead = 3;
static_assert(kAhead >= 1, "in place");

constexpr std::int64_t distance_of(std::uint32_t step) {
  const std::int64_t distance = step / 2 + 1;
  return step % 2 == 0 ? distance : -distance;
}

Lane steps(Builder& b) {
  const std::uint32_t all = b.num_ranks() - 1;
  const std::uint32_t ahead = std::min(kAhead, all);
  for (std::uint32_t step = 0; step < all + ahead; ++step) {
    if (step == ahead) co_yield b.copy(b.input_block(b.rank()), b.output_block(b.rank()));
    if (step < all) {
      const std::uint32_t to = b.neighbour(distance_of(step));
      co_yield b.send(to, b.input_block(to));
    }
    if (step >= ahead) {
      const std::uint32_t from = b.neighbour(-distance_of(step - ahead));
      co_yield b.recv(from, b.output_block(from));
    }
  }
  if (all == 0) co_yield b.copy(b.input_block(b.rank()), b.output_block(b.rank()));
}

Schedule make(const Request& request) { return one_lane(pairwise, request, steps); }

}  // namespace

constexpr Algorithm pairwise = {
    .name = "pairwise",
    .collective = Collective::all_to_all,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "in each step every rank sends a block to the rank at one distance, and receives one from the other side",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, IJHPCA "
        "19(1), 2005 (pairwise exchange as for any number of ranks; here both ways in turn, with some sends ahead)",
    .make = make,
};

}  // namespace tutti::all_to_all

namespace tutti::all_to_all_v {

constinit const Algorithm pairwise = varying(all_to_all::pairwise, Collective::all_to_all_v);

}  // namespace tutti::all_to_all_v
