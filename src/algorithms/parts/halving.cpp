// SPDX-License-Identifier: Apache-2.0
#include "algorithms/parts/halving.hpp"

namespace tutti::parts {

namespace {

// into = the fold of `with` and the message from `peer`, the lower rank's part first.
const Step& fold(Builder& b, std::uint32_t peer, Slice with, Slice into) {
  return peer < b.rank() ? b.recv_reduce(peer, with, into) : b.reduce_recv(with, peer, into);
}

}  // namespace

Lane halve_and_double(Builder& b, patterns::FoldIn folded, Halving halving) {
  const std::uint32_t pieces = folded.num_places();
  if (b.num_ranks() == 1) {
    b.completing();
    co_yield b.copy(b.input(), b.output());
    co_return;
  }
  const std::uint32_t place = folded.place_of(b.rank());
  const std::uint32_t leader = folded.leader(place);
  const bool is_pair = folded.size_of(place) == 2;
  const std::uint32_t half = pieces / 2;
  if (is_pair && b.rank() != leader) {
    co_yield b.send(leader, b.input(0, half));
    co_yield fold(b, leader, b.input(half, half), b.output(half, half));
    co_yield b.send_away(leader, b.output(half, half));
    co_yield b.recv(leader, b.output(0, pieces));
    co_return;
  }
  if (is_pair) {
    co_yield b.send(leader + 1, b.input(half, half));
    co_yield fold(b, leader + 1, b.input(0, half), b.output(0, half));
    co_yield b.recv(leader + 1, b.output(half, half));
  }

  // Pieces [first, first + count) are this rank's to fold; first is always a multiple of count.
  std::uint32_t first = 0;
  std::uint32_t count = pieces;
  bool is_raw = !is_pair;
  const std::uint32_t num_steps = patterns::log2_of_power(pieces);
  for (std::uint32_t step = 0; step < num_steps; ++step) {
    const std::uint32_t peer = folded.leader(halving.peer(place, step, pieces));
    count /= 2;
    if (halving.keeps_upper(place, step, pieces)) first += count;
    const std::uint32_t given = first ^ count;
    co_yield is_raw ? b.send(peer, b.input(given, count)) : b.send_away(peer, b.output(given, count));
    if (step + 1 == num_steps) b.completing();
    co_yield fold(b, peer, is_raw ? b.input(first, count) : b.output(first, count), b.output(first, count));
    is_raw = false;
  }
  for (std::uint32_t step = num_steps; step-- > 0; count *= 2) {
    const std::uint32_t peer = folded.leader(halving.peer(place, step, pieces));
    co_yield b.send(peer, b.output(first, count));
    co_yield b.recv(peer, b.output(first ^ count, count));
    first &= ~count;
  }
  if (is_pair) co_yield b.send(leader + 1, b.output(0, pieces));
}

}  // namespace tutti::parts
