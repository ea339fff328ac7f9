// SPDX-License-Identifier: Apache-2.0
#include "algorithms/parts/ring.hpp"

namespace tutti::parts {

Ring ring_of_all(const Builder& b, bool backwards, std::uint32_t shift) {
  return {patterns::row_of({.width = b.num_ranks(), .height = 1}, b.rank()), backwards, shift};
}

Lane fold_around(Builder& b, Ring ring, Chunks chunks, Space from, bool completes) {
  const Slice given = chunks.of(from, ring.chunk_before(1));
  // The input stays the caller's; what an earlier turn has made is of no use here any more.
  co_yield from == Space::input ? b.send(ring.next(), given) : b.send_away(ring.next(), given);
  for (std::uint32_t distance = 2; distance <= ring.line.length; ++distance) {
    const std::uint32_t chunk = ring.chunk_before(distance);
    const bool is_whole = distance == ring.line.length;
    if (completes && is_whole) b.completing();
    co_yield b.recv_reduce(ring.previous(), chunks.of(from, chunk), chunks.of(Space::output, chunk));
    if (!is_whole) co_yield b.send_away(ring.next(), chunks.of(Space::output, chunk));
  }
}

Lane hand_around(Builder& b, Ring ring, Chunks chunks, std::uint32_t distance) {
  for (std::uint32_t passed = 0; passed < distance; ++passed) {
    co_yield b.send(ring.next(), chunks.of(Space::output, ring.chunk_before(passed)));
    co_yield b.recv(ring.previous(), chunks.of(Space::output, ring.chunk_before(passed + 1)));
  }
}

Lane fold_and_hand_around(Builder& b, Ring ring, Chunks chunks) {
  const std::uint32_t length = ring.line.length;
  if (length == 1) {
    b.completing();
    co_yield b.copy(chunks.of(Space::input, 0), chunks.of(Space::output, 0));
    co_return;
  }
  for (Lane turn = fold_around(b, ring, chunks, Space::input, true); const Step* step = turn.next();) co_yield *step;
  for (Lane turn = hand_around(b, ring, chunks, length - 1); const Step* step = turn.next();) co_yield *step;
}

}  // namespace tutti::parts
