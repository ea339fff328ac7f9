// SPDX-License-Identifier: Apache-2.0
// Reduce and broadcast: the ranks fold up a k-nomial tree to rank 0, which hands the result down the same tree.
//
// Meant for small messages, where it sends the fewest: 2(N-1) in all, against N·log N of recursive doubling, at the
// price of twice as many rounds; for links that many ranks share. Any number of ranks, any radix; one piece, no
// scratch. One lane: a round of a large message would wait for the one before to come down. double_binary_tree is the
// tree for large messages.
//
// Subtrees are runs of neighbouring ranks and are folded in order, k-1 children of a height in one step: results are in
// rank order.
#include <algorithm>
#include <array>

#include "algorithms/patterns/knomial.hpp"
#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::all_reduce {

namespace {

constexpr std::uint32_t kRoot = 0;

Lane steps(Builder& b, std::uint32_t radix) {
  if (b.num_ranks() == 1) {
    b.completing();
    co_yield b.copy(b.input(), b.output());
    co_return;
  }
  const patterns::KnomialTree tree(b.num_ranks(), radix, kRoot);
  const std::vector<std::uint32_t> children = tree.children(b.rank());
  const std::optional<std::uint32_t> parent = tree.parent(b.rank());

  Slice mine = b.input();
  for (std::size_t first = 0; first < children.size();) {
    const std::size_t end = std::min(first + radix - 1, children.size());
    std::vector<Endpoint> parts = {local_end(mine)};
    for (; first < end; ++first) parts.push_back(message_end(children[first], mine));
    mine = b.output();
    if (!parent && end == children.size()) b.completing();
    co_yield b.combine(parts, std::array{local_end(mine)});
  }
  if (parent) {
    co_yield children.empty() ? b.send(*parent, mine) : b.send_away(*parent, mine);
    co_yield b.recv(*parent, b.output());
  }
  // Who has the most below him first.
  for (std::size_t child = children.size(); child-- > 0;) co_yield b.send(children[child], b.output());
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(reduce_broadcast, request, 1);
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t) { return steps(b, radix); };
  return schedule;
}

}  // namespace

const Algorithm reduce_broadcast = {
    .name = "reduce_broadcast",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .takes = {.radix = true},
    .method = "a fold up a k-nomial tree to rank 0, and the result down again",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, "
        "IJHPCA 19(1), 2005 (reduce followed by broadcast, on binomial trees)",
    .make = make,
};

}  // namespace tutti::all_reduce
