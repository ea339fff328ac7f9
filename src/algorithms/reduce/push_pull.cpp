// SPDX-License-Identifier: Apache-2.0
// Reduce from both ends: the root folds some pieces of all inputs, and each other rank folds one and stores the result
// into the root's output.
//
// Meant for large blocks and few ranks, where the one who folds is what a reduce waits for: the others, which have
// nothing to do in a direct reduce, fold as much as the root does. Of N ranks there are N pieces; of two there are
// three, of which the root has two, since the other has to bring its result to the root as well. Any number of ranks,
// any root; no scratch. Right by name in place too, because each piece of all inputs is read by a single rank, before
// that stores there.
#include <vector>

#include "algorithms/registry.hpp"

namespace tutti::reduce {

namespace {

constexpr std::uint32_t kInputs = 0;
constexpr std::uint32_t kOpened = 1;  // the root's output

std::uint32_t pieces_of_root(std::uint32_t num_ranks) { return num_ranks == 2 ? 2 : 1; }
std::uint32_t num_pieces(std::uint32_t num_ranks) { return pieces_of_root(num_ranks) + num_ranks - 1; }

Lane steps(Builder& b) {
  const std::uint32_t ranks = b.num_ranks();
  const std::uint32_t all = num_pieces(ranks);
  const std::uint32_t of_root = pieces_of_root(ranks);
  if (b.rank() == b.root()) {
    if (ranks > 1) {
      co_yield b.expose(b.input(0, all));
      co_yield b.open(b.output(0, all));
    }
    co_yield b.pull_reduce_all(kInputs, b.input(0, of_root), b.output(0, of_root));
    if (ranks > 1) co_yield b.close();
    co_return;
  }
  const std::uint32_t piece = of_root + (b.rank() + ranks - b.root()) % ranks - 1;
  co_yield b.expose(b.input(0, all));
  std::vector<Endpoint> sources;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    sources.push_back({.place = rank == b.rank() ? Place::local : Place::remote,
                       .rank = rank == b.rank() ? 0 : rank,
                       .post = kInputs,
                       .slice = b.input(piece)});
  const Endpoint result{.place = Place::remote, .rank = b.root(), .post = kOpened, .slice = b.output(piece)};
  b.completing();
  co_yield b.combine(sources, {&result, 1});
  co_yield b.close();
}

Schedule make(const Request& request) { return one_lane(push_pull, request, steps, num_pieces(request.num_ranks)); }

}  // namespace

const Algorithm push_pull = {
    .name = "push_pull",
    .collective = Collective::reduce,
    .channel = Channel::symmetric,
    .order = OrderClass::ordered,
    .name_safe = true,
    .name_safe_in_place = true,
    .method = "each rank folds a piece of all inputs, and stores it into the root's output",
    .citation =
        "R. Rabenseifner, Optimization of collective reduction operations, ICCS 2004 (reduce-scatter, then "
        "gather; here in one pass, by load and store)",
    .make = make,
};

}  // namespace tutti::reduce
