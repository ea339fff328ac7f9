// SPDX-License-Identifier: Apache-2.0
// Recursive doubling: groups that know all of their own blocks pair up, and every rank exchanges all that its group
// has with its counterpart in the other one.
//
// Meant for small blocks: ceil(log2 N) steps, near ranks first; the message of step k is 2^k blocks, and N-1 blocks are
// received per rank, the least there can be. Any number of ranks: the groups are halves of halves
// (patterns/halves.hpp), so where a half is shorter by one its last rank sends to two, and the last of the longer half
// to nobody. With a power of two everybody sends log2 N messages and N-1 blocks. No scratch.
#include "algorithms/patterns/halves.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

using patterns::Halves;
using patterns::RankRun;

Lane steps(Builder& b) {
  const std::uint32_t rank = b.rank();
  const std::vector<Halves> cuts = patterns::cuts_around(rank, b.num_ranks());
  const auto blocks_of = [&](const RankRun& run) { return b.blocks(Space::output, run.first, run.count); };
  co_yield b.copy(b.input(), b.output_block(rank));
  for (std::size_t cut = cuts.size(); cut-- > 0;) {
    const RankRun followers = cuts[cut].followers(rank);
    for (std::uint32_t each = 0; each < followers.count; ++each)
      co_yield b.send(followers.first + each, blocks_of(cuts[cut].own(rank)));
    co_yield b.recv(cuts[cut].counterpart(rank), blocks_of(cuts[cut].other(rank)));
  }
}

Schedule make(const Request& request) { return one_lane(recursive_doubling, request, steps); }

}  // namespace

const Algorithm recursive_doubling = {
    .name = "recursive_doubling",
    .collective = Collective::all_gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "groups of 1, 2, 4, ... ranks exchange all that they know",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, "
        "IJHPCA 19(1), 2005 (other than powers of two: by halves that differ by one)",
    .make = make,
};

}  // namespace tutti::all_gather
