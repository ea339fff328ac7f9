// SPDX-License-Identifier: Apache-2.0
// Swing all-reduce: a reduce-scatter by halving and an all-gather by doubling among peers that swing from side to side
// at distances 1, 1, 3, 5, 11 …, so that on rings and tori the large exchanges are between near ranks. This is the
// paper's bandwidth-optimal version for one port.
//
// Meant for medium and large messages on rings and tori: 2·ceil(log2 N) steps, and 2·n·(N-1)/N sent per rank. Even
// numbers of ranks only; N pieces, no scratch. The order of the pieces is chosen so that for a power
// of two a step's blocks are one run, and one message. Other even numbers: a rank would be reached twice, so blocks are
// sent only to who has not got them yet, as the paper does; steps and bytes are the same, but a step's blocks are
// several runs and several messages. There a table of O(N), one for all ranks, says which.
#include "algorithms/patterns/swing.hpp"

#include <bit>
#include <memory>

#include <fmt/format.h>

#include "algorithms/parts/halving.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

using patterns::BlockRun;
using patterns::SwingBlocks;

Slice slice_of(Space space, const BlockRun& run) { return {space, 0, run.first, run.count}; }

// For even numbers that are no power of two: one of the 2·num_steps turns of a rank, all-gather behind reduce-scatter.
struct Turn {
  std::uint32_t peer = 0;
  bool reduces = true;
  bool completes = false;       // takes the rank's own block and nothing else, which is whole then
  std::vector<BlockRun> given;  // messages to the peer
  std::vector<BlockRun> taken;  // messages from it
};

Turn turn_of(const SwingBlocks& blocks, std::uint32_t rank, std::uint32_t number, std::uint32_t num_ranks) {
  const std::uint32_t num_steps = blocks.num_steps();
  if (number < num_steps) {
    const std::uint32_t peer = patterns::swing_peer(rank, number, num_ranks);
    return {peer, true, number + 1 == num_steps, blocks.reduced(rank, number), blocks.reduced(peer, number)};
  }
  const std::uint32_t step = 2 * num_steps - 1 - number;
  const std::uint32_t peer = patterns::swing_peer(rank, step, num_ranks);
  return {peer, false, false, blocks.gathered(peer, step), blocks.gathered(rank, step)};
}

constexpr std::uint32_t kTaking = 1;  // the number of that lane

// One lane gives and one takes: a turn has several messages each way, and with both in one lane they would take turns.
Lane giving(Builder& b, std::shared_ptr<const SwingBlocks> blocks) {
  std::size_t num_taken = 0;  // steps of the other lane in the turns before
  for (std::uint32_t number = 0; number < 2 * blocks->num_steps(); ++number) {
    const Turn turn = turn_of(*blocks, b.rank(), number, b.num_ranks());
    if (num_taken > 0) b.after(kTaking, static_cast<std::uint32_t>(num_taken) - 1);
    for (const BlockRun& run : turn.given) {
      const bool is_raw = turn.reduces && !run.giver_folded;
      const Slice slice = slice_of(is_raw ? Space::input : Space::output, run);
      co_yield turn.reduces && !is_raw ? b.send_away(turn.peer, slice) : b.send(turn.peer, slice);
    }
    num_taken += turn.taken.size();
  }
}

Lane taking(Builder& b, std::shared_ptr<const SwingBlocks> blocks) {
  for (std::uint32_t number = 0; number < 2 * blocks->num_steps(); ++number) {
    const Turn turn = turn_of(*blocks, b.rank(), number, b.num_ranks());
    for (const BlockRun& run : turn.taken) {
      const Slice slice = slice_of(Space::output, run);
      if (turn.completes) b.completing();
      const Slice with = slice_of(run.taker_folded ? Space::output : Space::input, run);
      co_yield turn.reduces ? b.recv_reduce(turn.peer, with, slice) : b.recv(turn.peer, slice);
    }
  }
}

std::string objection(const Request& request) {
  if (request.num_ranks % 2 == 0) return "";
  return fmt::format("swing needs an even number of ranks, and there are {}", request.num_ranks);
}

Schedule make(const Request& request) {
  const std::uint32_t ranks = request.num_ranks;
  if (std::has_single_bit(ranks)) {
    Schedule schedule = header_of(swing, request, ranks);
    const patterns::FoldIn unfolded(ranks, ranks);
    schedule.lane = [unfolded](Builder& b, std::uint32_t) {
      return parts::halve_and_double(b, unfolded, {patterns::swing_peer, patterns::swing_keeps_upper});
    };
    return schedule;
  }
  Schedule schedule = header_of(swing, request, ranks, 2);
  schedule.lane = [blocks = std::make_shared<const SwingBlocks>(ranks)](Builder& b, std::uint32_t lane) {
    return lane == kTaking ? taking(b, blocks) : giving(b, blocks);
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
