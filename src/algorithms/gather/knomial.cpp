// k-nomial gather: up a k-nomial tree to the root; every rank sends its parent its own block and then those of its
// subtree, as they come in.
//
// Meant for small blocks and many ranks, where the root is not to talk with everybody: it has at most (k-1)·ceil(log_k
// N) partners, in ceil(log_k N) levels. Any number of ranks, any root, any radix from 2 on; a radix of N or more is the
// linear gather.
//
// A step names one block, so the blocks of a subtree travel one by one: a rank sends as many messages as its subtree
// has ranks, the root receives N-1 of them as in the linear gather, and all together are the sum of the ranks' depths
// in the tree (with k = 2 and a power of two: N/2·log2 N), not N-1 messages of growing size. What is gained by it is
// that blocks are on their way side by side on all levels. One block of scratch, which is only written where neighbours
// are not fused.
#include "algorithms/patterns/knomial.hpp"

#include "algorithms/registry.hpp"

namespace tutti::gather {

namespace {

Lane steps(Builder& b, std::uint32_t radix) {
  const std::uint32_t n = b.num_ranks();
  const patterns::KnomialTree tree(n, radix, b.root());
  const std::optional<std::uint32_t> parent = tree.parent(b.rank());
  co_yield parent ? b.send(*parent, b.input()) : b.copy(b.input(), b.output_block(b.rank()));
  // A child's blocks come in the order of the ranks: its own, and then those of its children, the nearest first.
  for (const std::uint32_t child : tree.children(b.rank())) {
    for (std::uint32_t behind = 0; behind < tree.subtree(child).count; ++behind) {
      if (!parent) {
        co_yield b.recv(child, b.output_block((child + behind) % n));
        continue;
      }
      co_yield b.recv(child, b.scratch(0));
      co_yield b.send_away(*parent, b.scratch(0));
    }
  }
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(knomial, request, 1, 1, 1);
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t) { return steps(b, radix); };
  return schedule;
}

}  // namespace

const Algorithm knomial = {
    .name = "knomial",
    .collective = Collective::gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "the blocks of every subtree go up a k-nomial tree, one by one",
    .citation =
        "E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, Collective communication: theory, practice, and "
        "experience, Concurrency and Computation: Practice and Experience 19(13), 2007 (minimum spanning tree gather); "
        "M. Wilkins, H. Wang, P. Liu, B. Pham, Y. Guo, R. Thakur, P. Dinda, N. Hardavellas, Generalized collective "
        "algorithms for the exascale era, CLUSTER 2023 (any radix)",
    .make = make,
};

}  // namespace tutti::gather
