// Parallel aggregated trees (PAT): every block goes down a binomial tree of its own, all trees of one shape and shifted
// (patterns/parallel_trees.hpp), and the edges of one bit of all trees go together; the highest bit first.
//
// Meant for small blocks on large fabrics: ceil(log2 N) steps for any number of ranks. What is sent far is one block,
// and the N/2 blocks of the last step go to the neighbour. N-1 blocks sent and received per rank, one message each.
//
// In the paper blocks wait in internal buffers, whose number limits how many trees are walked together, and the rest
// of the trees is walked one part after the other. Here blocks arrive at their final places in the output and are sent
// on from there: there are no such buffers (no scratch), and all trees are always walked together.
//
// Two lanes, so that the messages of a step do not wait for those that come the other way: lane 0 sends, each block
// when it is there; lane 1 receives.
#include "algorithms/patterns/parallel_trees.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

using patterns::ParallelTrees;

// The block in whose tree the rank has this place.
std::uint32_t block_at(const Builder& b, std::uint32_t place) { return b.neighbour(-static_cast<std::int64_t>(place)); }

Lane sending(Builder& b) {
  const ParallelTrees trees(b.num_ranks());
  co_yield b.copy(b.input(), b.output_block(b.rank()));
  for (std::uint32_t bit = trees.num_bits(); bit-- > 0;) {
    const std::uint32_t hop = std::uint32_t{1} << bit;
    for (std::uint32_t parent = 0; parent < trees.num_parents(bit); ++parent) {
      const std::uint32_t place = 2 * hop * parent;
      if (place != 0) b.after(1, trees.turn_of(place));
      co_yield b.send(b.neighbour(hop), b.output_block(block_at(b, place)));
    }
  }
}

Lane receiving(Builder& b) {
  const ParallelTrees trees(b.num_ranks());
  for (std::uint32_t bit = trees.num_bits(); bit-- > 0;) {
    const std::uint32_t hop = std::uint32_t{1} << bit;
    for (std::uint32_t parent = 0; parent < trees.num_parents(bit); ++parent)
      co_yield b.recv(b.neighbour(-static_cast<std::int64_t>(hop)),
                      b.output_block(block_at(b, 2 * hop * parent + hop)));
  }
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(pat, request, 1, 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? sending(b) : receiving(b); };
  return schedule;
}

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
