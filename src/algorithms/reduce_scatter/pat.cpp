// Parallel aggregated trees (PAT): the partial sums of every block go up a binomial tree of its own, all trees of one
// shape and shifted (patterns/parallel_trees.hpp), and the edges of one bit of all trees go together; the lowest bit
// first. The all-gather of the same name backwards.
//
// Meant for small blocks on large fabrics: ceil(log2 N) steps for any number of ranks, all ranks with the same work.
// The N/2 blocks of the first step go to the neighbour, and what is sent far is one block. N-1 blocks sent per rank,
// one message each. Every fold is of neighbouring places, so a result is in rank order but for where the ring is
// closed.
//
// Scratch: in the paper the number of internal buffers limits how many trees are walked together, and the rest is
// walked one part after the other. Here all are always walked together, and what has to stay between two steps is
// about N/4 blocks: every second inner place of a tree is sent up as soon as it is folded, from message to message.
//
// Lanes, so that the messages of one step neither wait for nor are waited for by those of the others: lane 0 sends
// inputs; lane l folds what comes over the edges of bit l-1 and sends on, in the same pass, what goes over those of
// bit l. Every lane goes from the lowest place to the highest, so nothing waits in a circle. The last fold, which is of
// one block, stands in lane 1 behind all other lanes: the next round writes scratch only when this one has read it.
#include <algorithm>
#include <array>
#include <bit>

#include "algorithms/ends.hpp"
#include "algorithms/patterns/parallel_trees.hpp"
#include "algorithms/registry.hpp"

namespace tutti::reduce_scatter {

namespace {

using patterns::ParallelTrees;

// The block in whose tree the rank has this place.
std::uint32_t block_at(const Builder& b, std::uint32_t place) { return b.neighbour(-static_cast<std::int64_t>(place)); }

// Where the partial sum of this place, a multiple of 4, is kept.
Slice kept(const Builder& b, std::uint32_t place) { return place == 0 ? b.output() : b.scratch(place / 4 - 1); }

// The highest place of all, where it has children in an endless tree but none here, goes up from lane `lane`.
bool is_bare(const ParallelTrees& trees, std::uint32_t place, std::uint32_t lane) {
  return place != 0 && ParallelTrees::bit_above(place) == lane && !trees.has_child(place, lane - 1);
}

std::uint32_t num_steps(const ParallelTrees& trees, std::uint32_t lane, std::uint32_t num_ranks) {
  const std::uint32_t highest = (num_ranks - 1) >> lane << lane;
  return trees.num_parents(lane - 1) + (is_bare(trees, highest, lane) ? 1 : 0);
}

Lane sending(Builder& b) {
  if (b.num_ranks() == 1) {
    b.completing();
    co_yield b.copy(b.input_block(0), b.output());
  }
  for (std::uint32_t place = 1; place < b.num_ranks(); place += 2)
    co_yield b.send(b.neighbour(-1), b.input_block(block_at(b, place)));
}

Lane folding(Builder& b, std::uint32_t lane) {
  const ParallelTrees trees(b.num_ranks());
  const std::uint32_t unit = std::uint32_t{1} << lane;
  const std::uint32_t from = b.neighbour(unit / 2);
  const std::uint32_t to = b.neighbour(-static_cast<std::int64_t>(unit));
  for (std::uint32_t place = 0; place < b.num_ranks() && lane < trees.num_bits(); place += unit) {
    const bool goes_up = place != 0 && ParallelTrees::bit_above(place) == lane;
    if (trees.has_child(place, lane - 1)) {
      if (lane > 1) b.after(lane - 1, place / (unit / 2));
      const Slice own = lane == 1 ? b.input_block(block_at(b, place)) : kept(b, place);
      co_yield b.combine(std::array{local_end(own), message_end(from, own)},
                         std::array{goes_up ? message_end(to, own) : local_end(kept(b, place))});
    } else if (goes_up) {
      // Its last fold was over the highest bit that has a child; there may be none.
      std::uint32_t fold = lane - 1;
      while (fold > 0 && !trees.has_child(place, fold - 1)) --fold;
      if (fold > 0) b.after(fold, place >> fold);
      co_yield b.send(to, fold > 0 ? kept(b, place) : b.input_block(block_at(b, place)));
    }
  }
  if (lane != 1) co_return;
  for (std::uint32_t other = 2; other < trees.num_bits(); ++other)
    b.after(other, num_steps(trees, other, b.num_ranks()) - 1);
  b.completing();
  co_yield b.reduce_recv(trees.num_bits() == 1 ? b.input_block(b.rank()) : b.output(),
                         b.neighbour(std::bit_floor(b.num_ranks() - 1)), b.output());
}

Schedule make(const Request& request) {
  const std::uint32_t n = request.num_ranks;
  const std::uint32_t bits = ParallelTrees(n).num_bits();
  // Places 4, 8, ..., as far as there are ranks.
  Schedule schedule = header_of(pat, request, 1, n == 1 ? 1 : std::max(bits, 2U), (n - 1) / 4);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? sending(b) : folding(b, lane); };
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
