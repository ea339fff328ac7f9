// SPDX-License-Identifier: Apache-2.0
// Chain reduce: from the root's left neighbour the partial result goes to the left from rank to rank, each of which
// folds its own part in front of it, until it comes to the root from its right.
//
// Meant for large messages: each rank receives and sends the block once, and while one round goes on to the next rank
// the following one arrives. N-1 hops of latency and N-1 roundings. Any number of ranks, any root. No scratch,
// because a partial result goes from message to message and is stored only at the root. With rank 0 as root the fold is
// in rank order; with another root it begins with the root.
#include <array>

#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::reduce {

namespace {

Lane steps(Builder& b) {
  const std::uint32_t right = b.neighbour(1);
  const std::uint32_t left = b.neighbour(-1);
  const bool is_last = right == b.root();  // the one that begins
  if (b.rank() == b.root()) {
    b.completing();
    co_yield is_last ? b.copy(b.input(), b.output()) : b.reduce_recv(b.input(), right, b.output());
  } else if (is_last) {
    co_yield b.send(left, b.input());
  } else {
    const Slice part = b.input();
    co_yield b.combine(std::array{local_end(part), message_end(right, part)}, std::array{message_end(left, part)});
  }
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(chain, request, 1);
  if (request.root == 0) schedule.order = OrderClass::rank_order;
  schedule.lane = [](Builder& b, std::uint32_t) { return steps(b); };
  return schedule;
}

}  // namespace

const Algorithm chain = {
    .name = "chain",
    .collective = Collective::reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "the partial result goes from rank to rank towards the root, one round behind the other",
    .citation =
        "J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra, Performance analysis of "
        "MPI collective operations, Cluster Computing 10(2), 2007 (as chain, with pipelining)",
    .make = make,
};

}  // namespace tutti::reduce
