// Swing all-reduce: a reduce-scatter by halving and an all-gather by doubling among peers that swing from side to side
// at distances 1, 1, 3, 5, 11 …, so that on rings and tori the large exchanges are between near ranks. This is the
// paper's bandwidth-optimal version for one port.
//
// Meant for medium and large messages on rings and tori: 2·ceil(log2 N) steps, and 2·n·(N-1)/N sent per rank. Even
// numbers of ranks only, as in the paper; N pieces, no scratch. The order of the pieces is chosen so that for a power
// of two a step's blocks are one run, and one message. Other even numbers: a rank may be reached twice, so blocks are
// sent only to who has not got them yet; steps and bytes are the same, but a step's blocks are several runs and several
// messages.
#include "algorithms/patterns/swing.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include <fmt/format.h>

#include "algorithms/all_reduce/halving.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

using patterns::BlockRun;
using patterns::SwingBlocks;

Slice slice_of(Space space, const BlockRun& run) { return {space, 0, run.first, run.count}; }

// For even numbers that are no power of two. Both peers send and receive in turn, so that no queue has to be deep.
Lane block_by_block(Builder& b, std::shared_ptr<const SwingBlocks> blocks) {
  const std::uint32_t num_steps = blocks->num_steps();
  for (std::uint32_t step = 0; step < num_steps; ++step) {
    const std::uint32_t peer = patterns::swing_peer(b.rank(), step, b.num_ranks());
    const std::vector<BlockRun> given = blocks->reduced(b.rank(), step);
    const std::vector<BlockRun> taken = blocks->reduced(peer, step);
    for (std::size_t i = 0; i < std::max(given.size(), taken.size()); ++i) {
      if (i < given.size()) {
        const bool folded = given[i].giver_folded;
        const Slice slice = slice_of(folded ? Space::output : Space::input, given[i]);
        co_yield folded ? b.send_away(peer, slice) : b.send(peer, slice);
      }
      if (i >= taken.size()) continue;
      // In the last step a rank takes its own block only, which that completes.
      if (step + 1 == num_steps) b.completing();
      co_yield b.recv_reduce(peer, slice_of(taken[i].taker_folded ? Space::output : Space::input, taken[i]),
                             slice_of(Space::output, taken[i]));
    }
  }
  for (std::uint32_t step = num_steps; step-- > 0;) {
    const std::uint32_t peer = patterns::swing_peer(b.rank(), step, b.num_ranks());
    const std::vector<BlockRun> given = blocks->gathered(peer, step);
    const std::vector<BlockRun> taken = blocks->gathered(b.rank(), step);
    for (std::size_t i = 0; i < std::max(given.size(), taken.size()); ++i) {
      if (i < given.size()) co_yield b.send(peer, slice_of(Space::output, given[i]));
      if (i < taken.size()) co_yield b.recv(peer, slice_of(Space::output, taken[i]));
    }
  }
}

std::string objection(const Request& request) {
  if (request.num_ranks % 2 == 0) return "";
  return fmt::format("swing needs an even number of ranks, and there are {}", request.num_ranks);
}

Schedule make(const Request& request) {
  const std::uint32_t ranks = request.num_ranks;
  Schedule schedule = header_of(swing, request, ranks);
  if (std::has_single_bit(ranks)) {
    const patterns::FoldIn unfolded(ranks, ranks);
    schedule.lane = [unfolded](Builder& b, std::uint32_t) {
      return halve_and_double(b, unfolded, {patterns::swing_peer, patterns::swing_keeps_upper});
    };
    return schedule;
  }
  schedule.lane = [blocks = std::make_shared<const SwingBlocks>(ranks)](Builder& b, std::uint32_t) {
    return block_by_block(b, blocks);
  };
  return schedule;
}

}  // namespace

const Algorithm swing = {
    .name = "swing",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .ranks = "even",
    .method = "a reduce-scatter by halving and an all-gather by doubling, with peers at distances 1, 1, 3, 5, 11 …",
    .citation =
        "D. De Sensi, T. Bonato, D. Saam, T. Hoefler, Swing: short-cutting rings for higher bandwidth allreduce, "
        "NSDI 2024",
    .objection = objection,
    .make = make,
};

}  // namespace tutti::all_reduce
