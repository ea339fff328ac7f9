// SPDX-License-Identifier: Apache-2.0
// Linear gather: every rank sends its block to the root.
//
// Meant for large blocks and few ranks: the root receives N-1 messages, which is the least there can be, all others
// send one. Any number of ranks, any root; no scratch. With blocks of different sizes it is the same.
#include "algorithms/registry.hpp"

namespace tutti::gather {

namespace {

Lane steps(Builder& b) {
  if (b.rank() != b.root()) {
    co_yield b.send(b.root(), b.input());
    co_return;
  }
  co_yield b.copy(b.input(), b.output_block(b.rank()));
  for (std::uint32_t distance = 1; distance < b.num_ranks(); ++distance)
    co_yield b.recv(b.neighbour(distance), b.output_block(b.neighbour(distance)));
}

Schedule make(const Request& request) { return one_lane(linear, request, steps); }

}  // namespace

constexpr Algorithm linear = {
    .name = "linear",
    .collective = Collective::gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "every rank sends its block to the root",
    .citation = "MPI Forum, MPI: a message-passing interface standard, 1994 (the definition of MPI_Gather)",
    .make = make,
};

}  // namespace tutti::gather

namespace tutti::gather_v {

constinit const Algorithm linear = varying(gather::linear, Collective::gather_v);

}  // namespace tutti::gather_v
