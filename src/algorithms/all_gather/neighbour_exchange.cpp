// SPDX-License-Identifier: Apache-2.0
// Neighbour exchange: ranks exchange with their neighbours on the two sides in turn, in each step the two blocks that
// came in the step before (their own in step 0, which is one, and their own pair's in step 1).
//
// Meant for large and middling blocks: N/2 steps and N-1 blocks sent per rank, with neighbours only. The paper's steps
// are one message of two blocks each; here they are two messages, so N-1 messages in N/2 steps. Even numbers of ranks
// only, since ranks go in pairs; no scratch. What comes in is passed on in the same pass.
#include "algorithms/patterns/neighbours.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

Lane steps(Builder& b) {
  const patterns::NeighbourExchange exchange(b.num_ranks());
  const std::uint32_t rank = b.rank();
  const std::uint32_t pair = exchange.partner(rank, 0);
  const std::uint32_t steps = exchange.num_steps();
  co_yield b.copy(b.input(), b.output_block(rank));
  co_yield b.send(pair, b.output_block(rank));
  if (steps > 1) co_yield b.send(exchange.partner(rank, 1), b.output_block(rank));
  co_yield b.recv(pair, b.output_block(pair));
  if (steps > 1) co_yield b.send(exchange.partner(rank, 1), b.output_block(pair));
  for (std::uint32_t step = 1; step < steps; ++step) {
    for (const std::uint32_t block : exchange.received(rank, step)) {
      co_yield b.recv(exchange.partner(rank, step), b.output_block(block));
      if (step + 1 < steps) co_yield b.send(exchange.partner(rank, step + 1), b.output_block(block));
    }
  }
}

std::string objection(const Request& request) {
  return request.num_ranks % 2 == 0 ? "" : "the number of ranks is odd, and ranks go in pairs";
}

Schedule make(const Request& request) { return one_lane(neighbour_exchange, request, steps); }

}  // namespace

const Algorithm neighbour_exchange = {
    .name = "neighbour_exchange",
    .collective = Collective::all_gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .ranks = "even",
    .method = "ranks exchange the two blocks that came last with their neighbours on the two sides in turn",
    .citation =
        "J. Chen, Y. Zhang, L. Zhang, W. Yuan, Performance evaluation of allgather algorithms on terascale Linux "
        "cluster with Fast Ethernet, HPC Asia 2005",
    .objection = objection,
    .make = make,
};

}  // namespace tutti::all_gather
