// SPDX-License-Identifier: Apache-2.0
// Linear scatter: the root sends every rank its block.
//
// Meant for large blocks and few ranks: the root sends N-1 messages, which is the least there can be, all others
// receive one. Any number of ranks, any root; no scratch. With blocks of different sizes it is the same.
#include "algorithms/registry.hpp"

namespace tutti::scatter {

namespace {

Lane steps(Builder& b) {
  if (b.rank() != b.root()) {
    co_yield b.recv(b.root(), b.output());
    co_return;
  }
  for (std::uint32_t distance = 1; distance < b.num_ranks(); ++distance)
    co_yield b.send(b.neighbour(distance), b.input_block(b.neighbour(distance)));
  co_yield b.copy(b.input_block(b.rank()), b.output());
}

Schedule make(const Request& request) { return one_lane(linear, request, steps); }

}  // namespace

constexpr Algorithm linear = {
    .name = "linear",
    .collective = Collective::scatter,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "the root sends every rank its block",
    .citation = "MPI Forum, MPI: a message-passing interface standard, 1994 (the definition of MPI_Scatter)",
    .make = make,
};

}  // namespace tutti::scatter

namespace tutti::scatter_v {

constinit const Algorithm linear = varying(scatter::linear, Collective::scatter_v);

}  // namespace tutti::scatter_v
