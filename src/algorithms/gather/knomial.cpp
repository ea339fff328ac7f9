// SPDX-License-Identifier: Apache-2.0
// k-nomial gather: up a k-nomial tree to the root; every rank sends its parent its own block and those of its subtree
// in one message, when all are there.
//
// Meant for small blocks and many ranks, where the root is not to talk with everybody: it receives at most
// (k-1)·ceil(log_k N) messages, in ceil(log_k N) levels; all others send one. Any number of ranks, any root, any radix
// from 2 on; a radix of N or more is the linear gather. Scratch: the largest subtree below the root.
#include "algorithms/patterns/knomial.hpp"

#include "algorithms/registry.hpp"

namespace tutti::gather {

namespace {

using patterns::KnomialTree;

Lane steps(Builder& b, std::uint32_t radix) {
  const std::uint32_t n = b.num_ranks();
  const KnomialTree tree(n, radix, b.root());
  const std::optional<std::uint32_t> parent = tree.parent(b.rank());
  const std::uint32_t own = tree.subtree(b.rank()).count;
  if (parent && own == 1) {
    co_yield b.send(*parent, b.input());
    co_return;
  }
  // The root's blocks are where they belong, those of others begin with their own.
  co_yield b.copy(b.input(), parent ? b.scratch(0) : b.output_block(b.rank()));
  for (const std::uint32_t child : tree.children(b.rank())) {
    const std::uint32_t count = tree.subtree(child).count;
    co_yield b.recv(child, parent ? b.blocks(Space::scratch, (child + n - b.rank()) % n, count)
                                  : b.blocks(Space::output, child, count));
  }
  if (parent) co_yield b.send(*parent, b.blocks(Space::scratch, 0, own));
}

Schedule make(const Request& request) {
  const std::uint32_t radix = request.parameters.radix;
  const KnomialTree tree(request.num_ranks, radix, request.root);
  Schedule schedule = header_of(knomial, request, 1, 1, tree.most_below_root());
  schedule.lane = [radix](Builder& b, std::uint32_t) { return steps(b, radix); };
  return schedule;
}

}  // namespace

const Algorithm knomial = {
    .name = "knomial",
    .collective = Collective::gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "the blocks of every subtree go up a k-nomial tree in one message",
    .citation =
        "E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, Collective communication: theory, practice, and "
        "experience, Concurrency and Computation: Practice and Experience 19(13), 2007 (minimum spanning tree gather); "
        "M. Wilkins, H. Wang, P. Liu, B. Pham, Y. Guo, R. Thakur, P. Dinda, N. Hardavellas, Generalized collective "
        "algorithms for the exascale era, CLUSTER 2023 (any radix)",
    .make = make,
};

}  // namespace tutti::gather
