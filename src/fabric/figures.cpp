// SPDX-License-Identifier: Apache-2.0
#include "fabric/figures.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fabric/files/quantity.hpp"
#include "fabric/routes.hpp"

namespace tutti::fabric {

namespace {

constexpr std::size_t kMostRanksOfPairs = 1024;
constexpr std::size_t kMostLinksOfFlow = 1U << 15;
constexpr double kUnlimitedFlow = std::numeric_limits<double>::infinity();

// E. A. Dinic (1970): flows along shortest ways, all ways of a length at once. Ways are short, so depth is no matter.
class Flow {
 public:
  explicit Flow(const Fabric& fabric) : edges_(fabric.nodes.size() + 2) {
    for (const Link& link : fabric.links)
      add(link.from, link.to, link.bandwidth == 0 ? kUnlimitedFlow : link.bandwidth);
  }

  void add(std::uint32_t from, std::uint32_t to, double capacity) {
    edges_[from].push_back({to, edges_[to].size(), capacity});
    edges_[to].push_back({from, edges_[from].size() - 1, 0});
  }

  double most(std::uint32_t from, std::uint32_t to) {
    double total = 0;
    while (total < kUnlimitedFlow && find_distances(from, to)) {
      next_.assign(edges_.size(), 0);
      while (total < kUnlimitedFlow) {
        const double more = push(from, to, kUnlimitedFlow);
        if (more == 0) break;
        total += more;
      }
    }
    return total;
  }

 private:
  struct Edge {
    std::uint32_t to;
    std::size_t reverse;  // of the edges of `to`
    double left;
  };

  bool find_distances(std::uint32_t from, std::uint32_t to) {
    distances_.assign(edges_.size(), kFar);
    distances_[from] = 0;
    std::vector<std::uint32_t> open = {from};
    for (std::size_t i = 0; i < open.size(); ++i)
      for (const Edge& edge : edges_[open[i]]) {
        if (edge.left <= 0 || distances_[edge.to] != kFar) continue;
        distances_[edge.to] = distances_[open[i]] + 1;
        open.push_back(edge.to);
      }
    return distances_[to] != kFar;
  }

  double push(std::uint32_t at, std::uint32_t to, double most) {
    if (at == to) return most;
    for (; next_[at] < edges_[at].size(); ++next_[at]) {
      Edge& edge = edges_[at][next_[at]];
      if (edge.left <= 0 || distances_[edge.to] != distances_[at] + 1) continue;
      const double pushed = push(edge.to, to, std::min(most, edge.left));
      if (pushed == 0) continue;
      if (pushed < kUnlimitedFlow) {
        edge.left -= pushed;
        edges_[edge.to][edge.reverse].left += pushed;
      }
      return pushed;
    }
    return 0;
  }

  static constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::vector<Edge>> edges_;
  std::vector<std::uint32_t> distances_;
  std::vector<std::size_t> next_;
};

}  // namespace

std::optional<LongestWay> longest_way(const Fabric& fabric) {
  if (fabric.num_ranks() > kMostRanksOfPairs) return std::nullopt;
  LongestWay longest;
  Routes routes(fabric);
  std::vector<std::uint32_t> links;
  // Ways by latency are found by their end, so all to one end come after one another.
  for (const RankPlacement& to : fabric.ranks)
    for (const RankPlacement& from : fabric.ranks) {
      links.clear();
      routes.append(from.node, to.node, links);
      double latency = 0;
      for (const std::uint32_t link : links) latency += fabric.links[link].latency;
      longest.links = std::max(longest.links, links.size());
      longest.latency = std::max(longest.latency, latency);
    }
  return longest;
}

std::optional<double> between_halves(const Fabric& fabric) {
  if (fabric.num_ranks() < 2 || fabric.links.size() > kMostLinksOfFlow) return std::nullopt;
  std::vector<int> half(fabric.nodes.size(), -1);
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank) {
    int& each = half[fabric.ranks[rank].node];
    const int own = rank < fabric.num_ranks() / 2 ? 0 : 1;
    if (each != -1 && each != own) return std::nullopt;
    each = own;
  }
  Flow flow(fabric);
  const auto source = static_cast<std::uint32_t>(fabric.nodes.size());
  const std::uint32_t sink = source + 1;
  for (std::uint32_t node = 0; node < fabric.nodes.size(); ++node) {
    if (half[node] == 0) flow.add(source, node, kUnlimitedFlow);
    if (half[node] == 1) flow.add(node, sink, kUnlimitedFlow);
  }
  const double most = flow.most(source, sink);
  return most == kUnlimitedFlow ? 0 : most;
}

std::string link_cost(const Link& link) {
  return fmt::format("{}, {}{}", rate_to_text(link.bandwidth), time_to_text(link.latency),
                     link.gap == 0 ? "" : fmt::format(", gap {}", time_to_text(link.gap)));
}

std::string link_costs(const Fabric& fabric) {
  constexpr std::size_t kMostKinds = 8;
  std::vector<std::pair<Link, std::size_t>> kinds;  // in the order in which they are first met
  std::size_t others = 0;
  for (const Link& link : fabric.links) {
    const auto is_same = [&](const auto& kind) {
      return kind.first.bandwidth == link.bandwidth && kind.first.latency == link.latency && kind.first.gap == link.gap;
    };
    const auto found = std::find_if(kinds.begin(), kinds.end(), is_same);
    if (found != kinds.end()) {
      ++found->second;
    } else if (kinds.size() < kMostKinds) {
      kinds.emplace_back(link, 1);
    } else {
      ++others;
    }
  }
  std::string text;
  for (const auto& [link, count] : kinds)
    text += fmt::format("{}{} of {}", text.empty() ? "" : "; ", count, link_cost(link));
  return others == 0 ? text : fmt::format("{}; {} of others", text, others);
}

}  // namespace tutti::fabric
