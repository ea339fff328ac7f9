// SPDX-License-Identifier: Apache-2.0
// Bruck all-to-all: a block that is to travel i ranks to the right travels by the digits of i in base k, all blocks
// with the digit d at value k^x going d·k^x ranks together, in one message.
//
// Meant for small blocks and many ranks: ceil(log_k N) phases of at most k-1 messages; in each about (k-1)/k of all
// blocks are sent, so with k = 2 and a power of two N/2·log2 N of them against N-1 of the pairwise exchange. Any number
// of ranks, any radix from 2 on; a radix of N or more sends every block straight to its end.
//
// Between hops blocks are kept by their offset, in N-1 blocks of scratch; the first hops are made from the input, so
// what the original's rotation at the beginning copies is only those blocks that do not go in the first phase. The
// rotation at its end is a copy of each block.
#include <algorithm>

#include "algorithms/registry.hpp"

namespace tutti::all_to_all {

namespace {

// How many offsets below `n` have this digit at this value.
std::uint32_t num_with_digit(std::uint64_t n, std::uint64_t digit, std::uint64_t value, std::uint64_t radix) {
  const std::uint64_t rest = n % (radix * value);
  const std::uint64_t begin = digit * value;
  return static_cast<std::uint32_t>(n / (radix * value) * value + (rest > begin ? std::min(rest - begin, value) : 0));
}

// Where `count` blocks from offset `first` on rest on their way. A rank's block for itself, of offset 0, has none.
Slice resting(std::uint32_t first, std::uint32_t count = 1, Builder::Pattern pattern = {}) {
  return Builder::blocks(Space::scratch, first - 1, count, pattern);
}

Lane steps(Builder& b, std::uint32_t radix) {
  const std::uint32_t n = b.num_ranks();
  for (std::uint64_t value = 1; value < n; value *= radix) {
    const auto unit = static_cast<std::uint32_t>(value);
    // No pattern repeats where the radix is beyond all ranks.
    const auto apart = static_cast<std::uint32_t>(std::min<std::uint64_t>(value * radix, n));
    const std::uint64_t end = std::min<std::uint64_t>(radix, (n - 1) / value + 1);
    for (std::uint64_t digit = 1; digit < end; ++digit) {
      const auto hop = static_cast<std::int64_t>(digit * value);
      const std::uint32_t count = num_with_digit(n, digit, value, radix);
      co_yield b.send(b.neighbour(hop), value == 1 ? b.blocks(Space::input, b.neighbour(hop), count, {1, apart})
                                                   : resting(static_cast<std::uint32_t>(hop), count, {unit, apart}));
    }
    if (value == 1 && n > radix) {
      const std::uint32_t count = (n - 1) / radix;
      co_yield b.copy(b.blocks(Space::input, b.neighbour(radix), count, {1, radix}), resting(radix, count, {1, radix}));
    }
    for (std::uint64_t digit = 1; digit < end; ++digit) {
      const auto hop = static_cast<std::int64_t>(digit * value);
      const std::uint32_t count = num_with_digit(n, digit, value, radix);
      co_yield b.recv(b.neighbour(-hop), resting(static_cast<std::uint32_t>(hop), count, {unit, apart}));
    }
  }
  co_yield b.copy(b.input_block(b.rank()), b.output_block(b.rank()));
  for (std::uint32_t offset = 1; offset < n; ++offset)
    co_yield b.copy(resting(offset), b.output_block(b.neighbour(-std::int64_t{offset})));
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(bruck, request, 1, 1, request.num_ranks - 1);
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t) { return steps(b, radix); };
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
