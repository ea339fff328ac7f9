// SPDX-License-Identifier: Apache-2.0
// Broadcast by scatter and all-gather (van de Geijn): N pieces; a binomial tree scatters them, so that each rank has
// its own piece and those of its subtree, and then the pieces go around the ring.
//
// Meant for large messages: 2·n·(N-1)/N bytes sent by the root and n received by every other rank, in N-1 hops, which
// is the way of the root's own piece around the ring; all others reach everybody sooner. Any number of ranks, any root,
// any count (pieces may be empty); no scratch. Pieces are numbered from the root: its own is 0, its right
// neighbour's 1.
//
// On the ring nothing is sent to a rank that has it from the scatter: so every rank but the root receives each piece
// exactly once, and the root none. (A plain ring sends N-1 pieces to each rank, also those that it has.)
#include "algorithms/patterns/knomial.hpp"
#include "algorithms/registry.hpp"

namespace tutti::broadcast {

namespace {

Lane steps(Builder& b) {
  const std::uint32_t n = b.num_ranks();
  const patterns::KnomialTree tree(n, 2, b.root());
  const bool is_root = b.rank() == b.root();
  const Space held = is_root ? Space::input : Space::output;
  const auto place_of = [n, root = b.root()](std::uint32_t rank) { return (rank + (n - root)) % n; };
  const auto pieces_of = [&](std::uint32_t rank) { return Slice{held, 0, place_of(rank), tree.subtree(rank).count}; };
  const auto piece_behind = [held, n, place = place_of(b.rank())](std::uint32_t distance) {
    return Slice{held, 0, (place + (n - distance)) % n, 1};
  };

  if (!is_root) co_yield b.recv(*tree.parent(b.rank()), pieces_of(b.rank()));
  const std::vector<std::uint32_t> children = tree.children(b.rank());
  for (auto child = children.rbegin(); child != children.rend(); ++child) co_yield b.send(*child, pieces_of(*child));

  // In step s a rank receives the piece s + 1 before its own. It has `own` pieces from its own on, so the last own - 1
  // of the steps bring it nothing new; nor does the one after them, which would bring its own.
  const std::uint32_t right = b.neighbour(1);
  const std::uint32_t own = tree.subtree(b.rank()).count;
  const std::uint32_t of_right = tree.subtree(right).count;
  for (std::uint32_t step = 0; step + 1 < n; ++step) {
    if (step + of_right < n) co_yield b.send(right, piece_behind(step));
    if (step + own < n) co_yield b.recv(b.neighbour(-1), piece_behind(step + 1));
  }
  if (is_root) co_yield b.copy(b.input(0, n), b.output(0, n));
}

Schedule make(const Request& request) { return one_lane(scatter_all_gather, request, steps, request.num_ranks); }

}  // namespace

const Algorithm scatter_all_gather = {
    .name = "scatter_all_gather",
    .collective = Collective::broadcast,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = "a binomial tree scatters pieces, which then go around the ring to those that lack them",
    .citation =
        "M. Barnett, L. Shuler, R. van de Geijn, S. Gupta, D. G. Payne, J. Watts, Interprocessor collective "
        "communication library (InterCom), SHPCC 1994; H. Zhou, V. Marjanović, C. Niethammer, J. Gracia, A "
        "bandwidth-saving optimization for MPI broadcast collective operation, ICPPW 2015 (what the ring need not "
        "send)",
    .make = make,
};

}  // namespace tutti::broadcast
