// SPDX-License-Identifier: Apache-2.0
// Parallel aggregated trees (PAT): every block goes down a binomial tree of its own, all trees of one shape and shifted
// (patterns/parallel_trees.hpp), and the edges of one bit of all trees are one message; the highest bit first.
//
// Meant for small blocks on large fabrics: ceil(log2 N) messages for any number of ranks. What is sent far is one
// block, and the N/2 blocks of the last message go to the neighbour. N-1 blocks sent and received per rank.
//
// In the paper blocks wait in internal buffers, whose number limits how many trees are walked together, and the rest
// of the trees is walked one part after the other. Here blocks arrive at their final places in the output and are sent
// on from there: there are no such buffers (no scratch), and all trees are always walked together.
#include "algorithms/patterns/parallel_trees.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

using patterns::ParallelTrees;

Lane steps(Builder& b) {
  const ParallelTrees trees(b.num_ranks());
  co_yield b.copy(b.input(), b.output_block(b.rank()));
  for (std::uint32_t bit = trees.num_bits(); bit-- > 0;) {
    const std::uint32_t hop = std::uint32_t{1} << bit;
    const std::uint32_t count = trees.num_parents(bit);
    // The block in whose tree this rank has the highest of the places, and then those of the lower ones.
    const auto blocks_down_from = [&](std::uint32_t place) {
      return b.blocks(Space::output, b.neighbour(-static_cast<std::int64_t>(place)), count, {1, 2 * hop});
    };
    const std::uint32_t highest = 2 * hop * (count - 1);
    co_yield b.send(b.neighbour(hop), blocks_down_from(highest));
    co_yield b.recv(b.neighbour(-static_cast<std::int64_t>(hop)), blocks_down_from(highest + hop));
  }
}

Schedule make(const Request& request) { return one_lane(pat, request, steps); }

}  // namespace

const Algorithm pat = {
    .name = "pat",
    .collective = Collective::all_gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "every block goes down a shifted binomial tree, far ranks first, all trees together",
    .citation =
        "S. Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, "
        "arXiv 2506.20252, 2025",
    .make = make,
};

}  // namespace tutti::all_gather
