// SPDX-License-Identifier: Apache-2.0
// Parallel aggregated trees (PAT): the partial sums of every block go up a binomial tree of its own, all trees of one
// shape and shifted (patterns/parallel_trees.hpp), and the edges of one bit of all trees are one message; the lowest
// bit first. The all-gather of the same name backwards.
//
// Meant for small blocks on large fabrics: ceil(log2 N) messages for any number of ranks, all ranks with the same work.
// The N/2 blocks of the first message go to the neighbour, and what is sent far is one block. N-1 blocks sent per rank.
// Every fold is of neighbouring places, so a result is in rank order but for where the ring is closed.
//
// Scratch: in the paper the number of internal buffers limits how many trees are walked together, and the rest is
// walked one part after the other. Here all are always walked together: a block for each even place.
#include <bit>

#include "algorithms/patterns/parallel_trees.hpp"
#include "algorithms/registry.hpp"

namespace tutti::reduce_scatter {

namespace {

using patterns::ParallelTrees;

std::uint32_t num_even_places(std::uint32_t num_ranks) { return (num_ranks + 1) / 2; }

Lane steps(Builder& b) {
  const std::uint32_t n = b.num_ranks();
  const ParallelTrees trees(n);
  if (n == 1) {
    b.completing();
    co_yield b.copy(b.input_block(0), b.output());
  }
  // What this rank has of `count` trees, in which its places are `highest` and then every `apart`-th lower one: its
  // inputs, or the partial sums of even places. Both are in the order of the blocks.
  const auto inputs = [&](std::uint32_t highest, std::uint32_t count, std::uint32_t apart) {
    return b.blocks(Space::input, b.neighbour(-static_cast<std::int64_t>(highest)), count, {1, apart});
  };
  const auto sums = [&](std::uint32_t highest, std::uint32_t count, std::uint32_t apart) {
    return b.blocks(Space::scratch, num_even_places(n) - 1 - highest / 2, count, {1, apart / 2});
  };
  // The highest place has no child where it is even.
  if (n % 2 == 1 && n > 1) co_yield b.copy(inputs(n - 1, 1, 2), sums(n - 1, 1, 2));
  for (std::uint32_t bit = 0; bit < trees.num_bits(); ++bit) {
    const std::uint32_t hop = std::uint32_t{1} << bit;
    const std::uint32_t count = trees.num_parents(bit);
    const std::uint32_t highest = 2 * hop * (count - 1);
    const std::uint32_t child = b.neighbour(hop);
    const std::uint32_t parent = b.neighbour(-static_cast<std::int64_t>(hop));
    co_yield b.send(parent, bit == 0 ? inputs(highest + 1, count, 2) : sums(highest + hop, count, 2 * hop));
    const bool is_last = bit + 1 == trees.num_bits();
    if (is_last) b.completing();
    co_yield b.reduce_recv(bit == 0 ? inputs(highest, count, 2) : sums(highest, count, 2 * hop), child,
                           is_last ? b.output() : sums(highest, count, 2 * hop));
  }
}

Schedule make(const Request& request) {
  const std::uint32_t n = request.num_ranks;
  Schedule schedule = header_of(pat, request, 1, 1, n <= 2 ? 0 : num_even_places(n));
  schedule.lane = [](Builder& b, std::uint32_t) { return steps(b); };
  return schedule;
}

}  // namespace

const Algorithm pat = {
    .name = "pat",
    .collective = Collective::reduce_scatter,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "partial sums go up shifted binomial trees, near ranks first, all trees together",
    .citation =
        "S. Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, "
        "arXiv 2506.20252, 2025",
    .make = make,
};

}  // namespace tutti::reduce_scatter
