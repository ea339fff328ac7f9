// k-nomial scatter: down a k-nomial tree from the root; every rank hands its children the blocks of their subtrees, the
// largest subtree first and in it the farthest rank first, and keeps the last that it receives.
//
// Meant for small blocks and many ranks, where the root is not to talk with everybody: it has at most (k-1)·ceil(log_k
// N) partners, in ceil(log_k N) levels. Any number of ranks, any root, any radix from 2 on; a radix of N or more is the
// linear scatter.
//
// A step names one block, so the blocks of a subtree travel one by one: a rank receives as many messages as its subtree
// has ranks, the root sends N-1 of them as in the linear scatter, and all together are the sum of the ranks' depths in
// the tree (with k = 2 and a power of two: N/2·log2 N), not N-1 messages of shrinking size. What is gained by it is
// that blocks are on their way side by side on all levels. One block of scratch, which is only written where neighbours
// are not fused.
#include "algorithms/patterns/knomial.hpp"

#include "algorithms/registry.hpp"

namespace tutti::scatter {

namespace {

Lane steps(Builder& b, std::uint32_t radix) {
  const std::uint32_t n = b.num_ranks();
  const patterns::KnomialTree tree(n, radix, b.root());
  const std::optional<std::uint32_t> parent = tree.parent(b.rank());
  const std::vector<std::uint32_t> children = tree.children(b.rank());
  // From the last rank of the subtree down to the rank itself: so the parent's order is the children's as well.
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    for (std::uint32_t left = tree.subtree(*child).count; left > 0; --left) {
      if (!parent) {
        co_yield b.send(*child, b.input_block((*child + (left - 1)) % n));
        continue;
      }
      co_yield b.recv(*parent, b.scratch(0));
      co_yield b.send_away(*child, b.scratch(0));
    }
  }
  co_yield parent ? b.recv(*parent, b.output()) : b.copy(b.input_block(b.rank()), b.output());
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(knomial, request, 1, 1, 1);
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t) { return steps(b, radix); };
  return schedule;
}

}  // namespace

const Algorithm knomial = {
    .name = "knomial",
    .collective = Collective::scatter,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "the blocks of every subtree go down a k-nomial tree, one by one",
    .citation =
        "E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, Collective communication: theory, practice, and "
        "experience, Concurrency and Computation: Practice and Experience 19(13), 2007 (minimum spanning tree "
        "scatter); M. Wilkins, H. Wang, P. Liu, B. Pham, Y. Guo, R. Thakur, P. Dinda, N. Hardavellas, Generalized "
        "collective algorithms for the exascale era, CLUSTER 2023 (any radix)",
    .make = make,
};

}  // namespace tutti::scatter
