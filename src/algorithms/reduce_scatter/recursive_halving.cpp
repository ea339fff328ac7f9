// SPDX-License-Identifier: Apache-2.0
// Recursive halving: every rank sends the half of the blocks that it is not in to its counterpart in that half, folds
// what it gets for its own half, and goes on in that half, until it has its own block alone.
//
// Meant for small and middling blocks: ceil(log2 N) steps, far ranks first: N/2 blocks go to the farthest and one to
// the neighbour, each step one message. Any number of ranks: halves of halves (patterns/halves.hpp). Every rank sends
// N-1 blocks; with a power of two every rank folds as many, else the last rank of a shorter half folds for two. What is
// folded first are ranks far from each other, so not in rank order; each result is made by one rank alone.
//
// Scratch: half of the blocks, since inputs are never written.
#include <array>
#include <vector>

#include "algorithms/patterns/halves.hpp"
#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::reduce_scatter {

namespace {

using patterns::Halves;
using patterns::RankRun;

Lane steps(Builder& b) {
  const std::uint32_t rank = b.rank();
  const std::vector<Halves> cuts = patterns::cuts_around(rank, b.num_ranks());
  if (cuts.empty()) {
    b.completing();
    co_yield b.copy(b.input_block(0), b.output());
    co_return;
  }
  const std::uint32_t first_kept = cuts[0].own(rank).first;
  bool has_folded = false;
  const auto partial = [&](const RankRun& run) {
    return has_folded ? b.blocks(Space::scratch, run.first - first_kept, run.count)
                      : b.blocks(Space::input, run.first, run.count);
  };
  for (const Halves& halves : cuts) {
    const RankRun own = halves.own(rank);
    const RankRun followers = halves.followers(rank);
    co_yield b.send(halves.counterpart(rank), partial(halves.other(rank)));
    if (followers.count == 0) continue;
    const bool is_last = own.count == 1;
    std::vector<Endpoint> parts;
    for (std::uint32_t each = 0; each < followers.count; ++each)
      parts.push_back(message_end(followers.first + each, partial(own)));
    // The lower half first.
    parts.insert(halves.is_low(rank) ? parts.begin() : parts.end(), local_end(partial(own)));
    has_folded = true;
    if (is_last) b.completing();
    co_yield b.combine(parts, std::array{local_end(is_last ? b.output() : partial(own))});
  }
}

Schedule make(const Request& request) {
  const std::uint32_t n = request.num_ranks;
  Schedule schedule = header_of(recursive_halving, request, 1, 1, n <= 2 ? 0 : (n + 1) / 2);
  schedule.lane = [](Builder& b, std::uint32_t) { return steps(b); };
  return schedule;
}

}  // namespace

const Algorithm recursive_halving = {
    .name = "recursive_halving",
    .collective = Collective::reduce_scatter,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method =
        "pairs of ranks exchange half of their partial sums and fold the other half, which halves until it is a block",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, "
        "IJHPCA 19(1), 2005 (other than powers of two by halves that differ by one)",
    .make = make,
};

}  // namespace tutti::reduce_scatter
