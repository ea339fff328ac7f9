// SPDX-License-Identifier: Apache-2.0
#include "fabric/generators/nest.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "fabric/generators/draft.hpp"
#include "fabric/generators/generator.hpp"

namespace tutti::fabric {

namespace {

// Numbers of nodes: the outer ones, then each copy's. Numbers of links: the outer ones, then for each copy the inner
// ones, the one from its gateway outwards, and the one back.
class NextNested {
 public:
  NextNested(const Fabric& outer, const Fabric& inner, std::uint32_t gateway)
      : outer_nodes_(static_cast<std::uint32_t>(outer.nodes.size())),
        inner_nodes_(static_cast<std::uint32_t>(inner.nodes.size())),
        outer_links_(static_cast<std::uint32_t>(outer.links.size())),
        inner_links_(static_cast<std::uint32_t>(inner.links.size())),
        gateway_(gateway),
        outer_(outer.next_link),
        inner_(inner.next_link) {
    std::vector<std::uint32_t> ports;
    ports.reserve(outer.ranks.size());
    for (const RankPlacement& place : outer.ranks) ports.push_back(place.node);
    ports_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(ports));
  }

  std::uint32_t operator()(std::uint32_t at, std::uint32_t to) const {
    if (at < outer_nodes_) {
      const std::uint32_t port = to < outer_nodes_ ? to : (*ports_)[copy(to)];
      return at == port ? outwards(copy(to)) + 1 : outer_(at, port);
    }
    const bool is_within = to >= outer_nodes_ && copy(to) == copy(at);
    if (!is_within && local(at) == gateway_) return outwards(copy(at));
    return first_link(copy(at)) + inner_(local(at), is_within ? local(to) : gateway_);
  }

 private:
  [[nodiscard]] std::uint32_t copy(std::uint32_t node) const { return (node - outer_nodes_) / inner_nodes_; }
  [[nodiscard]] std::uint32_t local(std::uint32_t node) const { return (node - outer_nodes_) % inner_nodes_; }
  [[nodiscard]] std::uint32_t first_link(std::uint32_t copy) const { return outer_links_ + copy * (inner_links_ + 2); }
  [[nodiscard]] std::uint32_t outwards(std::uint32_t copy) const { return first_link(copy) + inner_links_; }

  std::uint32_t outer_nodes_;
  std::uint32_t inner_nodes_;
  std::uint32_t outer_links_;
  std::uint32_t inner_links_;
  std::uint32_t gateway_;
  NextLink outer_;
  NextLink inner_;
  std::shared_ptr<const std::vector<std::uint32_t>> ports_;  // of the copies; shared, as it never changes
};

struct Box {
  Position least;
  Position greatest;

  [[nodiscard]] double size() const { return std::max(greatest.x - least.x, greatest.y - least.y); }
};

Box box_of(const Fabric& fabric) {
  Box box{{fabric.nodes[0].x, fabric.nodes[0].y}, {fabric.nodes[0].x, fabric.nodes[0].y}};
  for (const Node& node : fabric.nodes) {
    box.least = {std::min(box.least.x, node.x), std::min(box.least.y, node.y)};
    box.greatest = {std::max(box.greatest.x, node.x), std::max(box.greatest.y, node.y)};
  }
  return box;
}

std::uint64_t most_ports(const Fabric& fabric) {
  std::vector<std::uint32_t> ports(fabric.nodes.size());
  for (const Link& link : fabric.links) ++ports[link.from];
  return *std::max_element(ports.begin(), ports.end());
}

Status check_extent(const Fabric& outer, const Fabric& inner) {
  const std::uint64_t copies = outer.ranks.size();
  return check({.ranks = copies * inner.ranks.size(),
                .nodes = outer.nodes.size() + copies * inner.nodes.size(),
                .links = outer.links.size() + copies * (inner.links.size() + 2),
                .ports = std::max(most_ports(outer), most_ports(inner)) + 1});
}

// How far below its port a copy is drawn.
constexpr double kBelow = 1.2;

// The copy that takes the place of the outer rank; `top` is the middle of its upper edge in a drawing.
void add_copy(const Fabric& inner, const Gateway& gateway, std::uint32_t copy, std::uint32_t port, Position top,
              Fabric& fabric) {
  const auto first = static_cast<std::uint32_t>(fabric.nodes.size());
  const Box box = box_of(inner);
  for (Node node : inner.nodes) {
    node.name = fmt::format("{}/{}", copy, node.name);
    node.x += top.x - (box.least.x + box.greatest.x) / 2;
    node.y += top.y - box.least.y;
    fabric.nodes.push_back(std::move(node));
  }
  const auto add_link = [&](Link link, std::uint32_t from, std::uint32_t to) {
    link.from = from;
    link.to = to;
    fabric.links.push_back(link);
  };
  for (const Link& link : inner.links) add_link(link, first + link.from, first + link.to);
  add_link(gateway.link, first + gateway.node, port);
  add_link(gateway.link, port, first + gateway.node);
  const auto first_core = static_cast<std::uint32_t>(fabric.cores.size());
  for (RankPlacement place : inner.ranks) {
    place.node += first;
    place.core += first_core;
    fabric.ranks.push_back(place);
  }
  fabric.cores.insert(fabric.cores.end(), inner.cores.begin(), inner.cores.end());
}

}  // namespace

std::uint32_t usual_gateway(const Fabric& inner) {
  for (auto node = static_cast<std::uint32_t>(inner.nodes.size()); node-- > 0;)
    if (inner.nodes[node].is_switch) return node;
  return 0;
}

Result<Fabric> nest(const Fabric& outer, const Fabric& inner, const Gateway& gateway) {
  TUTTI_TRY(check_extent(outer, inner));
  Fabric fabric;
  fabric.nodes = outer.nodes;
  fabric.links = outer.links;
  fabric.costs = inner.costs;
  fabric.memories = inner.memories;
  fabric.queue = inner.queue;
  fabric.grid = inner.grid;
  // So far apart that copies, which are a unit apart at least, do not touch.
  const double pitch = box_of(inner).size() + 2 * kBelow + 0.5;
  for (Node& node : fabric.nodes) {
    node.x *= pitch;
    node.y *= pitch;
  }
  for (std::uint32_t copy = 0; copy < outer.ranks.size(); ++copy) {
    const std::uint32_t port = outer.ranks[copy].node;
    Node& node = fabric.nodes[port];
    node.is_switch = true;
    add_copy(inner, gateway, copy, port, {node.x, node.y + kBelow}, fabric);
  }
  if (outer.next_link && inner.next_link) fabric.next_link = NextNested(outer, inner, gateway.node);
  return fabric;
}

}  // namespace tutti::fabric
