// SPDX-License-Identifier: Apache-2.0
// k-nomial reduce: up a k-nomial tree to the root; every rank folds its children's results into its own, a level of the
// tree in one step, and sends what it has to its parent.
//
// Meant for small messages: ceil(log_k N) levels, of at most k-1 messages each, and as many roundings as levels. Any
// number of ranks, any root, any radix from 2 on; a radix of N or more is a star. One block of scratch for partial
// results. With rank 0 as root the fold is in rank order; with another root it begins with the root.
#include "algorithms/patterns/knomial.hpp"

#include <algorithm>

#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::reduce {

namespace {

using Ranks = std::vector<std::uint32_t>;

// The first of the children from `first` on that is on a higher level: one of the next power of the radix, or more,
// to the right of `rank`.
Ranks::const_iterator level_end(const Builder& b, const Ranks& children, Ranks::const_iterator first,
                                std::uint32_t radix) {
  const auto distance = [&](std::uint32_t child) { return (child + (b.num_ranks() - b.rank())) % b.num_ranks(); };
  const std::uint64_t next = std::uint64_t{distance(*first)} * radix;  // the first of a level is a power away
  return std::find_if(first, children.end(), [&](std::uint32_t child) { return distance(child) >= next; });
}

Lane steps(Builder& b, std::uint32_t radix) {
  const patterns::KnomialTree tree(b.num_ranks(), radix, b.root());
  const std::optional<std::uint32_t> parent = tree.parent(b.rank());
  const Ranks children = tree.children(b.rank());
  if (children.empty()) {
    if (!parent) b.completing();
    co_yield parent ? b.send(*parent, b.input()) : b.copy(b.input(), b.output());
    co_return;
  }
  const Slice result = parent ? b.scratch(0) : b.output();
  const Endpoint into = local_end(result);
  std::vector<Endpoint> sources = {local_end(b.input())};
  for (auto first = children.begin(); first != children.end();) {
    const auto end = level_end(b, children, first, radix);
    for (; first != end; ++first) sources.push_back(message_end(*first, result));
    if (!parent && end == children.end()) b.completing();
    co_yield b.combine(sources, {&into, 1});
    sources.assign(1, into);
  }
  if (parent) co_yield b.send_away(*parent, result);
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(knomial, request, 1, 1, 1);
  if (request.root == 0) schedule.order = OrderClass::rank_order;
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t) { return steps(b, radix); };
  return schedule;
}

}  // namespace

const Algorithm knomial = {
    .name = "knomial",
    .collective = Collective::reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .takes = {.radix = true},
    .method = "partial results go up a tree in which a level divides the ranks that have one by the radix",
    .citation =
        "M. Wilkins, H. Wang, P. Liu, B. Pham, Y. Guo, R. Thakur, P. Dinda, N. Hardavellas, Generalized collective "
        "algorithms for the exascale era, CLUSTER 2023",
    .make = make,
};

}  // namespace tutti::reduce
