// SPDX-License-Identifier: Apache-2.0
// Recursive multiplying all-reduce: in each round groups of k ranks exchange all they have, everyone folds the k parts,
// and what a rank has stands for k times as many ranks. recursive_doubling is its case of radix 2.
//
// Meant for small messages: log_k N rounds of k-1 messages with the whole buffer, where N is a power of k; where it is
// a product of numbers up to k, a round for each of them, if that takes no more rounds than folding in. Any other
// number of ranks: groups of neighbours are folded into their first rank before, which hands the result back behind:
// that is floor(log_k N) + 2 rounds. One piece; no scratch.
//
// Groups of places that have exchanged are neighbours, and everybody folds in the order of the places, all k parts in
// one step: results are in rank order, with the same brackets on every rank.
#include <array>
#include <vector>

#include "algorithms/patterns/fold_in.hpp"
#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::all_reduce {

namespace {

using patterns::FoldIn;

// The other ranks of the leader's group.
std::vector<Endpoint> members(const FoldIn& folded, std::uint32_t leader) {
  std::vector<Endpoint> ends;
  const std::uint32_t size = folded.size_of(folded.place_of(leader));
  for (std::uint32_t member = 1; member < size; ++member)
    ends.push_back(message_end(leader + member, Builder::output()));
  return ends;
}

// The ranks whose places differ from this one's in one digit only, itself included, in order.
struct Exchange {
  std::uint32_t stride = 1;  // the digit's value
  std::uint32_t base = 2;    // its base
};
std::vector<std::uint32_t> ranks_of(const FoldIn& folded, std::uint32_t place, Exchange exchange) {
  const std::uint32_t digit = place / exchange.stride % exchange.base;
  const std::uint32_t first = place - digit * exchange.stride;
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t other = 0; other < exchange.base; ++other)
    ranks.push_back(folded.leader(first + other * exchange.stride));
  return ranks;
}

Lane steps(Builder& b, FoldIn folded, std::vector<std::uint32_t> bases) {
  if (b.num_ranks() == 1) {
    b.completing();
    co_yield b.copy(b.input(), b.output());
    co_return;
  }
  const std::uint32_t place = folded.place_of(b.rank());
  const std::uint32_t leader = folded.leader(place);
  if (b.rank() != leader) {
    co_yield b.send(leader, b.input());
    co_yield b.recv(leader, b.output());
    co_return;
  }
  const std::vector<Endpoint> group = members(folded, leader);
  const std::array result = {local_end(b.output())};
  Slice mine = b.input();
  if (!group.empty()) {
    std::vector<Endpoint> parts = {local_end(mine)};
    parts.insert(parts.end(), group.begin(), group.end());
    co_yield b.combine(parts, result);
    mine = b.output();
  }
  Exchange exchange;
  for (const std::uint32_t base : bases) {
    exchange.base = base;
    std::vector<Endpoint> parts;
    std::vector<Endpoint> others;
    for (const std::uint32_t rank : ranks_of(folded, place, exchange)) {
      parts.push_back(rank == b.rank() ? local_end(mine) : message_end(rank, mine));
      if (rank != b.rank()) others.push_back(message_end(rank, mine));
    }
    co_yield b.combine(std::array{local_end(mine)}, others);
    exchange.stride *= base;
    if (exchange.stride == folded.num_places()) b.completing();
    co_yield b.combine(parts, result);
    mine = b.output();
  }
  if (!group.empty()) co_yield b.combine(result, group);
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(recursive_multiplying, request, 1);
  const std::vector<std::uint32_t> bases = patterns::exchange_bases(request.num_ranks, request.parameters.radix);
  std::uint32_t places = 1;
  for (const std::uint32_t base : bases) places *= base;
  const FoldIn folded(request.num_ranks, places);
  schedule.lane = [folded, bases](Builder& b, std::uint32_t) { return steps(b, folded, bases); };
  return schedule;
}

}  // namespace

const Algorithm recursive_multiplying = {
    .name = "recursive_multiplying",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .takes = {.radix = true},
    .method = "in each round groups of k ranks exchange all they have and fold it",
    .citation =
        "M. Ruefenacht, M. Bull, S. Booth, Generalisation of recursive doubling for AllReduce: now with simulation, "
        "Parallel Computing 69, 2017",
    .make = make,
};

}  // namespace tutti::all_reduce
