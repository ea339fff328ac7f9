// SPDX-License-Identifier: Apache-2.0
// J. Kim, W. Dally, S. Scott, D. Abts: Technology-driven, highly-scalable dragonfly topology (ISCA 2008). The routers
// of a group are all linked with each other, and each pair of groups by one link. Routes are the least ones: to the
// router that has the link to the other group, over it, and to the router of the destination.
#include <fmt/format.h>

#include "fabric/generators/draft.hpp"
#include "fabric/generators/generator.hpp"

namespace tutti::fabric {

namespace {

// Numbers of nodes: ranks, then routers. Numbers of links: of ranks there and back, local ones by the router they
// leave, global ones by the group they leave.
struct Dragonfly {
  std::uint64_t groups;
  std::uint64_t routers;  // of a group
  std::uint64_t ranks;    // of a router

  [[nodiscard]] std::uint64_t num_routers() const { return groups * routers; }
  [[nodiscard]] std::uint64_t num_ranks() const { return num_routers() * ranks; }
  [[nodiscard]] std::uint64_t num_local() const { return num_routers() * (routers - 1); }
  [[nodiscard]] std::uint64_t num_global() const { return groups * (groups - 1); }
  [[nodiscard]] std::uint64_t global_ports() const { return (groups - 1 + routers - 1) / routers; }

  // Which of a group's links leads to the other group: they are numbered by how far ahead that one is.
  [[nodiscard]] std::uint64_t slot(std::uint64_t from, std::uint64_t to) const {
    return (to + groups - from - 1) % groups;
  }
  [[nodiscard]] std::uint64_t router_of_slot(std::uint64_t slot) const { return slot / global_ports(); }

  [[nodiscard]] std::uint64_t local_link(std::uint64_t router, std::uint64_t to) const {
    const std::uint64_t from = router % routers;
    return 2 * num_ranks() + router * (routers - 1) + to - (to > from ? 1 : 0);
  }
  [[nodiscard]] std::uint64_t global_link(std::uint64_t group, std::uint64_t slot) const {
    return 2 * num_ranks() + num_local() + group * (groups - 1) + slot;
  }
};

class NextInDragonfly {
 public:
  explicit NextInDragonfly(Dragonfly shape) : shape_(shape) {}

  std::uint32_t operator()(std::uint32_t at, std::uint32_t to) const {
    return static_cast<std::uint32_t>(next(at, to));
  }

 private:
  [[nodiscard]] std::uint64_t next(std::uint64_t at, std::uint64_t to) const {
    if (at < shape_.num_ranks()) return 2 * at;
    const std::uint64_t router = at - shape_.num_ranks();
    const std::uint64_t target = to < shape_.num_ranks() ? to / shape_.ranks : to - shape_.num_ranks();
    if (router == target) return 2 * to + 1;
    const std::uint64_t group = router / shape_.routers;
    const std::uint64_t target_group = target / shape_.routers;
    if (group == target_group) return shape_.local_link(router, target % shape_.routers);
    const std::uint64_t slot = shape_.slot(group, target_group);
    const std::uint64_t leaving = shape_.router_of_slot(slot);
    return router % shape_.routers == leaving ? shape_.global_link(group, slot) : shape_.local_link(router, leaving);
  }

  Dragonfly shape_;
};

// Groups on a circle, the routers of each on a smaller one, and ranks outside their router.
void add_groups(const Dragonfly& shape, Draft& draft) {
  const auto routers = static_cast<std::uint32_t>(shape.routers);
  const auto groups = static_cast<std::uint32_t>(shape.groups);
  const double inner = 1.2 * room_for(routers);
  const double outer = inner + 1 + static_cast<double>(shape.ranks) / 4;
  const double circle = groups == 1 ? 0 : (outer + 0.6) * std::max(1.0, 2 * room_for(groups));
  const auto position = [&](std::uint32_t router, double radius, double turn) {
    const Position group = on_circle(router / routers, groups, circle);
    const double angle = 2 * std::numbers::pi * (router % routers + turn) / routers;
    return Position{group.x + radius * std::sin(angle), group.y - radius * std::cos(angle)};
  };
  for (std::uint32_t rank = 0; rank < shape.num_ranks(); ++rank) {
    const auto ranks = static_cast<std::uint32_t>(shape.ranks);
    const double turn = (rank % ranks + 0.5) / ranks * 0.8 - 0.4;
    draft.add_node(fmt::format("node {}", rank), position(rank / ranks, outer, turn));
  }
  for (std::uint32_t router = 0; router < shape.num_routers(); ++router)
    draft.add_switch(fmt::format("router {}.{}", router / routers, router % routers), position(router, inner, 0));
}

}  // namespace

Result<Fabric> make_dragonfly(const GeneratorArguments& arguments) {
  const Dragonfly shape{arguments.sizes[0], arguments.sizes[1], arguments.sizes[2]};
  const std::uint64_t ports = shape.ranks + shape.routers - 1 + shape.global_ports();
  TUTTI_TRY(check({.ranks = shape.num_ranks(),
                   .nodes = shape.num_ranks() + shape.num_routers(),
                   .links = 2 * shape.num_ranks() + shape.num_local() + shape.num_global(),
                   .ports = ports}));
  Draft draft;
  add_groups(shape, draft);
  const auto number = [](std::uint64_t node) { return static_cast<std::uint32_t>(node); };
  const auto router_node = [&](std::uint64_t router) { return number(shape.num_ranks() + router); };
  for (std::uint64_t rank = 0; rank < shape.num_ranks(); ++rank)
    draft.add_both(number(rank), router_node(rank / shape.ranks), arguments.links[0]);
  for (std::uint64_t router = 0; router < shape.num_routers(); ++router)
    for (std::uint64_t to = 0; to < shape.routers; ++to)
      if (to != router % shape.routers)
        draft.add_link(router_node(router), router_node(router / shape.routers * shape.routers + to),
                       arguments.links[1]);
  for (std::uint64_t group = 0; group < shape.groups; ++group)
    for (std::uint64_t slot = 0; slot + 1 < shape.groups; ++slot) {
      const std::uint64_t other = (group + slot + 1) % shape.groups;
      draft.add_link(router_node(group * shape.routers + shape.router_of_slot(slot)),
                     router_node(other * shape.routers + shape.router_of_slot(shape.slot(other, group))),
                     arguments.links[2]);
    }
  return std::move(draft).finish(NextInDragonfly(shape));
}

}  // namespace tutti::fabric
