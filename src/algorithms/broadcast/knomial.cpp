// SPDX-License-Identifier: Apache-2.0
// k-nomial broadcast: down a k-nomial tree from the root; every rank hands the block to its children, the one with the
// largest subtree first.
//
// Meant for small messages: ceil(log_k N) levels, of at most k-1 messages each. Any number of ranks, any root, any
// radix from 2 on; a radix of N or more is a star. No scratch. Fused, a rank stores the block and sends it to all of
// its children in one pass.
#include "algorithms/patterns/knomial.hpp"

#include "algorithms/registry.hpp"

namespace tutti::broadcast {

namespace {

Lane steps(Builder& b, std::uint32_t radix) {
  const patterns::KnomialTree tree(b.num_ranks(), radix, b.root());
  const std::optional<std::uint32_t> parent = tree.parent(b.rank());
  co_yield parent ? b.recv(*parent, b.output()) : b.copy(b.input(), b.output());
  const std::vector<std::uint32_t> children = tree.children(b.rank());
  for (auto child = children.rbegin(); child != children.rend(); ++child) co_yield b.send(*child, b.output());
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(knomial, request, 1);
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t) { return steps(b, radix); };
  return schedule;
}

}  // namespace

const Algorithm knomial = {
    .name = "knomial",
    .collective = Collective::broadcast,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "the block goes down a tree in which a level multiplies the ranks that have it by the radix",
    .citation =
        "M. Wilkins, H. Wang, P. Liu, B. Pham, Y. Guo, R. Thakur, P. Dinda, N. Hardavellas, Generalized collective "
        "algorithms for the exascale era, CLUSTER 2023",
    .make = make,
};

}  // namespace tutti::broadcast
