// SPDX-License-Identifier: Apache-2.0
// Pairwise all-to-all: in each step the ranks are paired off, and the two of a pair send each other their blocks.
//
// Meant for large blocks: N-1 blocks sent per rank, which is the least there can be, in N-1 steps for an even number of
// ranks and N for an odd one, where one rank rests in each step. Any number of ranks; no scratch. With blocks of
// different sizes it is the same. In place a block replaces the one that has just been sent to the same rank: this is
// why the pairs are those of a tournament and not those of a ring, where they would differ.
#include "algorithms/patterns/pairing.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_to_all {

namespace {

Lane steps(Builder& b) {
  const patterns::Pairing pairing(b.num_ranks());
  for (std::uint32_t step = 0; step < pairing.num_steps(); ++step) {
    const std::uint32_t partner = pairing.partner(b.rank(), step);
    if (partner == b.rank()) {
      co_yield b.copy(b.input_block(partner), b.output_block(partner));
      continue;
    }
    co_yield b.send(partner, b.input_block(partner));
    co_yield b.recv(partner, b.output_block(partner));
  }
}

Schedule make(const Request& request) { return one_lane(pairwise, request, steps); }

}  // namespace

constexpr Algorithm pairwise = {
    .name = "pairwise",
    .collective = Collective::all_to_all,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "in each step the ranks are paired off, and each pair exchanges its blocks",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, IJHPCA "
        "19(1), 2005 (pairwise exchange; the pairs for any number of ranks are those of a round-robin tournament)",
    .make = make,
};

}  // namespace tutti::all_to_all

namespace tutti::all_to_all_v {

constinit const Algorithm pairwise = varying(all_to_all::pairwise, Collective::all_to_all_v);

}  // namespace tutti::all_to_all_v
