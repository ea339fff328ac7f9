// SPDX-License-Identifier: Apache-2.0
// Chain broadcast: the block goes from each rank to its right neighbour, from the root on around to the root's left.
//
// Meant for large messages: each rank receives and sends the block once, and while one round goes on to the next rank
// the following one arrives, so that with many rounds the time is that of one hop. N-1 hops of latency. Any number of
// ranks, any root; no scratch.
#include "algorithms/registry.hpp"

namespace tutti::broadcast {

namespace {

Lane steps(Builder& b) {
  const std::uint32_t right = b.neighbour(1);
  if (b.rank() == b.root()) {
    co_yield b.copy(b.input(), b.output());
  } else {
    co_yield b.recv(b.neighbour(-1), b.output());
  }
  if (right != b.root()) co_yield b.send(right, b.output());
}

Schedule make(const Request& request) { return one_lane(chain, request, steps); }

}  // namespace

const Algorithm chain = {
    .name = "chain",
    .collective = Collective::broadcast,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "every rank passes the block on to its right neighbour, one round behind the other",
    .citation =
        "J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra, Performance analysis of "
        "MPI collective operations, Cluster Computing 10(2), 2007 (as chain, with pipelining)",
    .make = make,
};

}  // namespace tutti::broadcast
