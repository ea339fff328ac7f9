// Recursive doubling: groups that know all of their own blocks pair up, and every rank exchanges all that its group
// has with its counterpart in the other one.
//
// Meant for small blocks: ceil(log2 N) steps, near ranks first. Step k is 2^k messages each way, one a block, and they
// follow each other without waiting; N-1 blocks received per rank, the least there can be. Any number of ranks: the
// groups are halves of halves (patterns/halves.hpp), so where a half is shorter by one its last rank sends to two, and
// the last of the longer half to nobody. With a power of two everybody sends N-1 blocks. No scratch.
//
// Two lanes, so that the messages of a step do not wait for those that come the other way: lane 0 sends, each block
// when it is there; lane 1 receives.
#include "algorithms/patterns/halves.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

using patterns::Halves;
using patterns::RankRun;

// The step of lane 1 that receives the block. Before a rank receives the blocks of another half it has received all of
// its own half but its own.
std::uint32_t receipt_of(std::uint32_t block, const std::vector<Halves>& cuts, std::uint32_t rank) {
  for (const Halves& halves : cuts)
    if (halves.is_low(block) != halves.is_low(rank))
      return halves.own(rank).count - 1 + block - halves.other(rank).first;
  return 0;
}

Lane sending(Builder& b) {
  const std::uint32_t rank = b.rank();
  const std::vector<Halves> cuts = patterns::cuts_around(rank, b.num_ranks());
  co_yield b.copy(b.input(), b.output_block(rank));
  for (std::size_t cut = cuts.size(); cut-- > 0;) {
    const RankRun known = cuts[cut].own(rank);
    const RankRun followers = cuts[cut].followers(rank);
    for (std::uint32_t to = followers.first; to < followers.first + followers.count; ++to) {
      for (std::uint32_t block = known.first; block < known.first + known.count; ++block) {
        if (block != rank) b.after(1, receipt_of(block, cuts, rank));
        co_yield b.send(to, b.output_block(block));
      }
    }
  }
}

Lane receiving(Builder& b) {
  const std::uint32_t rank = b.rank();
  const std::vector<Halves> cuts = patterns::cuts_around(rank, b.num_ranks());
  for (std::size_t cut = cuts.size(); cut-- > 0;) {
    const RankRun unknown = cuts[cut].other(rank);
    for (std::uint32_t block = unknown.first; block < unknown.first + unknown.count; ++block)
      co_yield b.recv(cuts[cut].counterpart(rank), b.output_block(block));
  }
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(recursive_doubling, request, 1, 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? sending(b) : receiving(b); };
  return schedule;
}

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
