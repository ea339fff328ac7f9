// SPDX-License-Identifier: Apache-2.0
// k-nomial scatter: down a k-nomial tree from the root; every rank hands each child the blocks of its subtree in one
// message, the largest subtree first, and keeps its own.
//
// Meant for small blocks and many ranks, where the root is not to talk with everybody: it sends at most
// (k-1)·ceil(log_k N) messages, in ceil(log_k N) levels; all others receive one. Any number of ranks, any root, any
// radix from 2 on; a radix of N or more is the linear scatter. Scratch: the largest subtree below the root.
#include "algorithms/patterns/knomial.hpp"

#include "algorithms/registry.hpp"

namespace tutti::scatter {

namespace {

using patterns::KnomialTree;

Lane steps(Builder& b, std::uint32_t radix) {
  const std::uint32_t n = b.num_ranks();
  const KnomialTree tree(n, radix, b.root());
  const std::optional<std::uint32_t> parent = tree.parent(b.rank());
  const std::uint32_t own = tree.subtree(b.rank()).count;
  if (parent && own == 1) {
    co_yield b.recv(*parent, b.output());
    co_return;
  }
  if (parent) co_yield b.recv(*parent, b.blocks(Space::scratch, 0, own));
  const std::vector<std::uint32_t> children = tree.children(b.rank());
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    const std::uint32_t count = tree.subtree(*child).count;
    co_yield b.send(*child, parent ? b.blocks(Space::scratch, (*child + n - b.rank()) % n, count)
                                   : b.blocks(Space::input, *child, count));
  }
  co_yield b.copy(parent ? b.scratch(0) : b.input_block(b.rank()), b.output());
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
    .collective = Collective::scatter,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "the blocks of every subtree go down a k-nomial tree in one message",
    .citation =
        "E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, Collective communication: theory, practice, and "
        "experience, Concurrency and Computation: Practice and Experience 19(13), 2007 (minimum spanning tree "
        "scatter); M. Wilkins, H. Wang, P. Liu, B. Pham, Y. Guo, R. Thakur, P. Dinda, N. Hardavellas, Generalized "
        "collective algorithms for the exascale era, CLUSTER 2023 (any radix)",
    .make = make,
};

}  // namespace tutti::scatter
