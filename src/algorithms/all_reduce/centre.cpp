// SPDX-License-Identifier: Apache-2.0
// Centre all-reduce on grids: every package of w × h ranks reduces to the rank in its centre (row h/2, column w/2)
// along chains, first of the rows and then of the centre's column; the centres all-reduce among each other in a ring of
// packages; and the results go back the same ways.
//
// Meant for a mesh in each package, with one way out of it: w/2 + h/2 steps each way, half of what a corner takes,
// which can be asked for instead. Any number of packages; no scratch. A rank folds all that reaches it in one step, in
// rank order, so that one package keeps the order of the ranks. Two lanes: reducing runs ahead of handing out, so that
// rounds follow each other like a pipeline.
//
//   0 ─▶ 1 ◀─ 2
//        ▼
//   3 ─▶ 4 ◀─ 5     3 x 2: the centre is rank 4
#include <array>
#include <memory>

#include "algorithms/patterns/embed.hpp"
#include "algorithms/patterns/grid.hpp"
#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::all_reduce {

namespace {

using patterns::centre_of;
using patterns::corner_of;
using patterns::Embedded;
using patterns::Embedding;
using patterns::Feeders;
using patterns::feeders_of;
using patterns::Position;
using patterns::step_towards;

// A tree in each package to its target, and what the targets do among themselves.
struct Trees {
  Grid grid;  // of one package
  Position target;
  std::uint32_t num_packages = 1;
  std::uint32_t pieces = 1;
  Schedule between;  // the all-reduce among centres
};
using SharedTrees = std::shared_ptr<const Trees>;

// One rank's place in the tree of its package.
struct Node {
  std::uint32_t package = 0;
  std::uint32_t first = 0;  // the package's first rank
  std::optional<std::uint32_t> parent;
  Feeders feeders;  // both are ranks of all packages
};

Node node_of(const Trees& trees, std::uint32_t rank) {
  const auto size = static_cast<std::uint32_t>(trees.grid.size());
  const std::uint32_t first = rank / size * size;
  Node node{.package = rank / size,
            .first = first,
            .parent = step_towards(trees.grid, trees.target, rank - first),
            .feeders = feeders_of(trees.grid, trees.target, rank - first)};
  Feeders& feeders = node.feeders;
  for (std::optional<std::uint32_t>* other :
       {&node.parent, &feeders.above, &feeders.left, &feeders.right, &feeders.below})
    if (other->has_value()) **other += first;
  return node;
}

// The fold of all that reaches this rank, in rank order.
const Step& fold(Builder& b, const Node& node, std::uint32_t pieces) {
  std::array<Endpoint, 5> sources;
  std::size_t count = 0;
  const auto add = [&](std::optional<std::uint32_t> from) {
    if (from) sources[count++] = message_end(*from, Builder::input(0, pieces));
  };
  add(node.feeders.above);
  add(node.feeders.left);
  sources[count++] = local_end(Builder::input(0, pieces));
  add(node.feeders.right);
  add(node.feeders.below);
  return b.combine(std::span(sources).first(count), std::array{local_end(Builder::output(0, pieces))});
}

Lane hand_out(Builder& b, Node node, std::uint32_t pieces) {
  const Feeders& feeders = node.feeders;
  for (const std::optional<std::uint32_t> to : {feeders.above, feeders.left, feeders.right, feeders.below})
    if (to) co_yield b.send(*to, b.output(0, pieces));
}

Lane reducing(Builder& b, SharedTrees trees) {
  const Node node = node_of(*trees, b.rank());
  if (node.parent) {
    const bool is_leaf = node.feeders == Feeders{};
    if (!is_leaf) co_yield fold(b, node, trees->pieces);
    co_yield is_leaf ? b.send(*node.parent, b.input(0, trees->pieces))
                     : b.send_away(*node.parent, b.output(0, trees->pieces));
    co_return;
  }
  if (trees->num_packages == 1) b.completing();
  co_yield fold(b, node, trees->pieces);
  if (trees->num_packages > 1) {
    Embedding embedding;
    embedding.rank_of = [trees, place = b.rank() - node.first](std::uint32_t package) {
      return package * static_cast<std::uint32_t>(trees->grid.size()) + place;
    };
    embedding.steps_before = 1;
    Embedded between(trees->between, std::move(embedding), node.package, 0);
    while (const Step* step = between.next(b)) co_yield *step;
  }
  // The centre hands out in this lane as well, since it is the one that has made the result.
  for (Lane lane = hand_out(b, node, trees->pieces); const Step* step = lane.next();) co_yield *step;
}

Lane handing_out(Builder& b, SharedTrees trees) {
  const Node node = node_of(*trees, b.rank());
  if (!node.parent) co_return;
  co_yield b.recv(*node.parent, b.output(0, trees->pieces));
  for (Lane lane = hand_out(b, node, trees->pieces); const Step* step = lane.next();) co_yield *step;
}

Schedule make(const Request& request) {
  const Grid grid = request.parameters.grid;
  const std::uint32_t corner = request.parameters.corner;
  const auto num_packages = static_cast<std::uint32_t>(request.num_ranks / grid.size());
  Schedule between = ring.make({.collective = Collective::all_reduce, .num_ranks = num_packages});
  const std::uint32_t pieces = between.division(Space::input).pieces;
  const auto trees =
      std::make_shared<const Trees>(Trees{.grid = grid,
                                          .target = corner == 0 ? centre_of(grid) : corner_of(grid, corner),
                                          .num_packages = num_packages,
                                          .pieces = pieces,
                                          .between = std::move(between)});
  Schedule schedule = header_of(centre, request, pieces, 2);
  if (num_packages == 1) schedule.order = OrderClass::rank_order;
  schedule.lane = [trees](Builder& b, std::uint32_t lane) {
    return lane == 0 ? reducing(b, trees) : handing_out(b, trees);
  };
  return schedule;
}

}  // namespace

const Algorithm centre = {
    .name = "centre",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .takes = {.grid = true, .whole_grids = true, .corner = true},
    .ranks = "a multiple of w×h",
    .method = "each grid reduces to its centre (or a corner) along chains, the centres exchange, and results go back",
    .citation =
        "M. Barnett, R. Littlefield, D. G. Payne, R. van de Geijn, Global combine on mesh architectures with wormhole "
        "routing, IPPS 1993 (combining along one dimension and then the other; here by chains towards "
        "the centre)",
    .make = make,
};

}  // namespace tutti::all_reduce
