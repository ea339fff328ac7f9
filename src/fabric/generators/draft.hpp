// SPDX-License-Identifier: Apache-2.0
// What generators make fabrics with: nodes and links one after another, with numbers that they count themselves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>

#include "base/status.hpp"
#include "fabric/fabric.hpp"

namespace tutti::fabric {

struct Position {
  double x = 0;
  double y = 0;
};

// On a circle about the origin, the first at the top and the others clockwise; rounded, so that files are legible.
[[nodiscard]] inline Position on_circle(std::uint32_t index, std::uint32_t count, double radius) {
  const double angle = 2 * std::numbers::pi * index / count;
  const auto rounded = [](double value) { return std::round(value * 1000) / 1000 + 0.0; };  // + 0: no -0
  return {rounded(radius * std::sin(angle)), rounded(-radius * std::cos(angle))};
}

// How far from the middle of a circle `count` nodes have room, a unit each.
[[nodiscard]] inline double room_for(std::uint32_t count) { return std::max(1.0, count / (2 * std::numbers::pi)); }

class Draft {
 public:
  std::uint32_t add_node(std::string name, Position position) {
    return add({.name = std::move(name), .x = position.x, .y = position.y});
  }
  std::uint32_t add_switch(std::string name, Position position, bool multicast = false) {
    return add({.name = std::move(name), .is_switch = true, .multicast = multicast, .x = position.x, .y = position.y});
  }
  // With the costs of `like`.
  std::uint32_t add_link(std::uint32_t from, std::uint32_t to, const Link& like) {
    fabric_.links.push_back(like);
    fabric_.links.back().from = from;
    fabric_.links.back().to = to;
    return static_cast<std::uint32_t>(fabric_.links.size() - 1);
  }
  // There, and then back.
  void add_both(std::uint32_t from, std::uint32_t to, const Link& like) {
    add_link(from, to, like);
    add_link(to, from, like);
  }
  void reserve(std::uint64_t nodes, std::uint64_t links) {
    fabric_.nodes.reserve(nodes);
    fabric_.links.reserve(links);
  }

  [[nodiscard]] const std::vector<Link>& links() const { return fabric_.links; }

  // With a rank on each node that is no switch, in their order, and a core for each.
  [[nodiscard]] Fabric finish(NextLink next_link) && {
    for (std::uint32_t node = 0; node < fabric_.nodes.size(); ++node)
      if (!fabric_.nodes[node].is_switch)
        fabric_.ranks.push_back({.node = node, .core = static_cast<std::uint32_t>(fabric_.ranks.size())});
    fabric_.cores.resize(fabric_.ranks.size());
    fabric_.next_link = std::move(next_link);
    return std::move(fabric_);
  }

 private:
  std::uint32_t add(Node node) {
    fabric_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(fabric_.nodes.size() - 1);
  }

  Fabric fabric_;
};

}  // namespace tutti::fabric
