// SPDX-License-Identifier: Apache-2.0
// Direct all-to-all: every rank exposes the block of every other, and reads its own block from each of them.
//
// Meant for few ranks: one latency, and N-1 blocks read per rank, which is the least there can be. Any number of ranks;
// no scratch, but N-1 staging slots. With blocks of different sizes it is the same. Two lanes: exposing runs ahead of
// reading. Both go through the ranks in the order of pairings, so that no rank is read by two at once, and a block is
// there when its reader comes. In place a block read replaces the one that goes to the same rank, which must have been
// exposed by then.
#include "algorithms/patterns/pairing.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_to_all {

namespace {

using patterns::Pairing;

Lane exposing(Builder& b) {
  const Pairing pairing(b.num_ranks());
  for (std::uint32_t step = 0; step < pairing.num_steps(); ++step) {
    const std::uint32_t partner = pairing.partner(b.rank(), step);
    if (partner != b.rank()) co_yield b.expose(b.input_block(partner));
  }
}

Lane reading(Builder& b) {
  const Pairing pairing(b.num_ranks());
  const std::uint32_t own = b.rank();
  for (std::uint32_t step = 0; step < pairing.num_steps(); ++step) {
    const std::uint32_t partner = pairing.partner(own, step);
    if (partner == own) {
      co_yield b.copy(b.input_block(own), b.output_block(own));
      continue;
    }
    b.after(0, pairing.turn_of(own, partner));
    co_yield b.pull(partner, pairing.turn_of(partner, own), b.input_block(own), b.output_block(partner));
  }
  co_yield b.close();
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(direct, request, 1, 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? exposing(b) : reading(b); };
  return schedule;
}

}  // namespace

constexpr Algorithm direct = {
    .name = "direct",
    .collective = Collective::all_to_all,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .name_safe = true,
    .method = "every rank exposes all of its blocks, and reads its own from every other",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, IJHPCA "
        "19(1), 2005 (as the exchange with all at once, here by load)",
    .make = make,
};

}  // namespace tutti::all_to_all

namespace tutti::all_to_all_v {

constinit const Algorithm direct = varying(all_to_all::direct, Collective::all_to_all_v);

}  // namespace tutti::all_to_all_v
