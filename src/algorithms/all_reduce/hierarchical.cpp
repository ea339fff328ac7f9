// SPDX-License-Identifier: Apache-2.0
// Hierarchical all-reduce over groups of neighbouring ranks, such as the ranks of a host each: direct inside a group, a
// message algorithm of choice between them.
//
// With m members in the smallest group the buffer has m columns, and member c < m of every group is in charge of
// column c: it folds that of all members of its group, in rank order; the members in charge of the same column run the
// inner all-reduce on it; and every member takes the finished columns from those in charge of them.
//
// Meant for large messages where a group's memory is much faster than what connects groups: 1/m of the buffer passes
// between groups per member, all members at once. Any number of ranks in groups of any sizes; one group alone needs no
// inner algorithm. Scratch is the inner one's. The inner lane 0 runs in the middle of lane 0, its others beside it.
#include <algorithm>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "algorithms/patterns/embed.hpp"
#include "algorithms/patterns/groups.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

using patterns::Embedded;
using patterns::Embedding;
using patterns::Groups;
using patterns::num_steps_of;

constexpr std::uint32_t kInput = 0;   // the post that exposes what a member brings
constexpr std::uint32_t kColumn = 1;  // that of a finished column

// What all lanes of all ranks share.
struct Hierarchy {
  Groups groups;
  Schedule inner = {};  // among the members in charge of one column, one a group; unused where there is one group
  std::uint32_t pieces_of_column = 1;

  [[nodiscard]] std::uint32_t num_columns() const { return groups.least_size(); }
  [[nodiscard]] Slice column(Space space, std::uint32_t number) const {
    return {space, 0, number * pieces_of_column, pieces_of_column};
  }
};
using SharedHierarchy = std::shared_ptr<const Hierarchy>;

// One rank's place.
struct Member {
  std::uint32_t group = 0;
  std::uint32_t first = 0;  // the group's first rank
  std::uint32_t size = 1;   // and its size
  std::uint32_t own = 0;    // the place in it

  // Nobody else is there to read what this rank exposes.
  [[nodiscard]] bool is_alone() const { return size == 1; }
  // Steps of lane 0 before the inner ones: exposing the input and folding the column.
  [[nodiscard]] std::uint32_t steps_before() const { return is_alone() ? 1 : 2; }
};

Member member_of(const Hierarchy& hierarchy, std::uint32_t rank) {
  const std::uint32_t group = hierarchy.groups.group_of(rank);
  const std::uint32_t first = hierarchy.groups.first(group);
  return {.group = group, .first = first, .size = hierarchy.groups.size(group), .own = rank - first};
}

Embedded embed(const SharedHierarchy& hierarchy, const Member& member, std::uint32_t lane) {
  Embedding embedding;
  embedding.rank_of = [hierarchy, column = member.own](std::uint32_t group) {
    return hierarchy->groups.first(group) + column;
  };
  embedding.first_piece = member.own * hierarchy->pieces_of_column;
  embedding.steps_before = member.steps_before();
  return {hierarchy->inner, std::move(embedding), member.group, lane};
}

Lane fold_column(Builder& b, SharedHierarchy hierarchy, Member member) {
  std::vector<std::uint32_t> members(member.size);
  std::iota(members.begin(), members.end(), member.first);
  const bool between = hierarchy->groups.num_groups() > 1;
  if (!between) b.completing();
  co_yield b.pull_reduce(members, kInput, hierarchy->column(Space::input, member.own),
                         hierarchy->column(Space::output, member.own));
  if (!between) co_return;
  Embedded inner = embed(hierarchy, member, 0);
  while (const Step* step = inner.next(b)) co_yield *step;
  for (std::uint32_t lane = 1; lane < hierarchy->inner.num_lanes; ++lane) {
    const std::uint32_t num_steps = num_steps_of(hierarchy->inner, member.group, lane);
    if (num_steps != 0) b.after(lane, num_steps - 1);
  }
}

Lane main_lane(Builder& b, SharedHierarchy hierarchy) {
  const Member member = member_of(*hierarchy, b.rank());
  if (!member.is_alone()) co_yield b.expose(b.input(0, hierarchy->num_columns() * hierarchy->pieces_of_column));
  const bool in_charge = member.own < hierarchy->num_columns();
  if (in_charge) {
    for (Lane fold = fold_column(b, hierarchy, member); const Step* step = fold.next();) co_yield *step;
  }
  if (member.is_alone()) co_return;
  if (in_charge) co_yield b.expose(hierarchy->column(Space::output, member.own));
  // Everyone begins behind its own place, so that not all read from the same member at once.
  for (std::uint32_t distance = 1; distance <= hierarchy->num_columns(); ++distance) {
    const std::uint32_t column = (member.own + distance) % hierarchy->num_columns();
    if (column == member.own) continue;
    const Slice slice = hierarchy->column(Space::output, column);
    co_yield b.pull(member.first + column, kColumn, slice, slice);
  }
  co_yield b.close();
}

Lane inner_lane(Builder& b, SharedHierarchy hierarchy, std::uint32_t lane) {
  const Member member = member_of(*hierarchy, b.rank());
  if (member.own >= hierarchy->num_columns()) co_return;
  b.after(0, member.steps_before() - 1);
  Embedded inner = embed(hierarchy, member, lane);
  while (const Step* step = inner.next(b)) co_yield *step;
}

Request inner_request(const Request& request) {
  Request inner = {.collective = Collective::all_reduce,
                   .num_ranks = static_cast<std::uint32_t>(request.parameters.groups.size()),
                   .parameters = request.parameters};
  inner.parameters.groups.clear();
  return inner;
}

std::string objection(const Request& request) {
  const std::string& name = request.parameters.inner;
  const Algorithm* const inner = find_algorithm(Collective::all_reduce, name);
  if (inner == nullptr) return fmt::format("there is no all_reduce algorithm {} to run between groups", name);
  if (inner->channel != Channel::message) {
    return fmt::format("{} is for the {} channel; what runs between groups is for messages", name,
                       name_of(inner->channel));
  }
  const Request between = inner_request(request);
  if (between.num_ranks == 1) return {};  // nothing runs between groups
  const std::string against = objection_to(*inner, between);
  if (!against.empty()) return fmt::format("between groups, {}: {}", name, against);
  if (!inner->make(between).allows_in_place) return fmt::format("{} does not work in place, as it has to here", name);
  return {};
}

Schedule make(const Request& request) {
  const Request between = inner_request(request);
  Hierarchy hierarchy{Groups(request.parameters.groups)};
  OrderClass order = OrderClass::ordered;  // of one group
  if (between.num_ranks > 1) {
    hierarchy.inner = find_algorithm(Collective::all_reduce, request.parameters.inner)->make(between);
    hierarchy.pieces_of_column = hierarchy.inner.division(Space::input).pieces;
    // Groups are runs of ranks, so the inner algorithm's order of groups is an order of ranks.
    order = std::max(hierarchy.inner.order, OrderClass::rank_order);
  }
  Schedule schedule = header_of(hierarchical, request, hierarchy.num_columns() * hierarchy.pieces_of_column,
                                hierarchy.inner.num_lanes, hierarchy.inner.division(Space::scratch).blocks);
  schedule.order = order;
  schedule.lane = [hierarchy = std::make_shared<const Hierarchy>(std::move(hierarchy))](Builder& b,
                                                                                        std::uint32_t lane) {
    return lane == 0 ? main_lane(b, hierarchy) : inner_lane(b, hierarchy, lane);
  };
  return schedule;
}

}  // namespace

const Algorithm hierarchical = {
    .name = "hierarchical",
    .collective = Collective::all_reduce,
    .channel = Channel::staged,
    .order = OrderClass::uniform,
    .takes = {.groups = true},
    .ranks = "the sum of the groups",
    .method = "each member folds a column of its group, all-reduces it with its like in other groups, and hands it out",
    .citation =
        "M. Bayatpour, S. Chakraborty, H. Subramoni, X. Lu, D. K. Panda, Scalable reduction collectives with data "
        "partitioning-based multi-leader design, SC 2017",
    .objection = objection,
    .make = make,
};

}  // namespace tutti::all_reduce
