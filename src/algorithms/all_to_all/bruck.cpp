// Bruck all-to-all: a block that is to travel i ranks to the right travels by the digits of i in base k, all blocks
// with the digit d at value k^x going d·k^x ranks together.
//
// Meant for small blocks and many ranks: a rank has at most (k-1)·ceil(log_k N) partners in each direction, in
// ceil(log_k N) phases. Any number of ranks, any radix from 2 on; a radix of N or more sends every block straight to
// its end. Blocks are kept by their offset, so the rotations of the original are not copies but arithmetic: a first hop
// sends from the input, and a last one arrives in the output. N blocks of scratch for blocks between hops, and for the
// few that arrive before, in place, the block has gone whose memory they will have: those are copied at the end.
//
// A step names one block, so the blocks of a phase travel one by one, and a block that makes h hops is h messages: the
// digits of all offsets 1 to N-1 that are not 0, added up, are what a rank sends (with k = 2 and a power of two:
// N/2·log2 N), against N-1 of the pairwise exchange. What it saves here is partners and hops one after another, not
// messages. For this, sending and receiving are lanes of their own: the messages of a phase do not wait for each other.
#include "algorithms/patterns/digits.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_to_all {

namespace {

using patterns::DigitRoute;

// What both lanes go through, in the same order: so step j of the one and step j of the other are the same hop.
Lane sending(Builder& b, std::uint32_t radix) {
  const std::uint32_t n = b.num_ranks();
  const DigitRoute route(n, radix);
  for (std::uint64_t value = 1; value < n; value *= radix) {
    for (std::uint32_t offset = n - 1; offset > 0; --offset) {
      const auto hop = static_cast<std::int64_t>(route.hop(offset, value));
      if (hop == 0) continue;
      if (route.is_first_hop(offset, value)) {
        co_yield b.send(b.neighbour(hop), b.input_block(b.neighbour(offset)));
        continue;
      }
      b.after(1, route.place_of(offset, route.hop_before(offset, value)));
      co_yield b.send_away(b.neighbour(hop), b.scratch(offset));
    }
  }
}

Lane receiving(Builder& b, std::uint32_t radix) {
  const std::uint32_t n = b.num_ranks();
  const DigitRoute route(n, radix);
  std::uint32_t step = 0;
  for (std::uint64_t value = 1; value < n; value *= radix) {
    for (std::uint32_t offset = n - 1; offset > 0; --offset) {
      const auto hop = static_cast<std::int64_t>(route.hop(offset, value));
      if (hop == 0) continue;
      const bool is_home = route.is_last_hop(offset, value) && route.finds_room(offset);
      const std::uint32_t origin = b.neighbour(-std::int64_t{offset});
      b.after(0, step++);  // what was in its place is on its way
      co_yield b.recv(b.neighbour(-hop), is_home ? b.output_block(origin) : b.scratch(offset));
    }
  }
  for (std::uint32_t offset = n - 1; offset > 0; --offset) {
    if (route.finds_room(offset)) continue;
    co_yield b.copy(b.scratch(offset), b.output_block(b.neighbour(-std::int64_t{offset})));
  }
  co_yield b.copy(b.input_block(b.rank()), b.output_block(b.rank()));
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(bruck, request, 1, 2, request.num_ranks);
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t lane) {
    return lane == 0 ? sending(b, radix) : receiving(b, radix);
  };
  return schedule;
}

}  // namespace

const Algorithm bruck = {
    .name = "bruck",
    .collective = Collective::all_to_all,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "blocks travel by the digits of the distance that they have to go",
    .citation =
        "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient algorithms for all-to-all communications in "
        "multiport message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8(11), 1997",
    .make = make,
};

}  // namespace tutti::all_to_all
