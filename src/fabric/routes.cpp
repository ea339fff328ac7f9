// SPDX-License-Identifier: Apache-2.0
#include "fabric/routes.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "base/assert.hpp"

namespace tutti::fabric {

namespace {

struct Grouped {
  std::vector<std::uint32_t> links;
  std::vector<std::uint32_t> first;  // of each node, and the end
};

// Links by one of their ends, in the order of their numbers.
Grouped group_by(std::uint32_t Link::*end, const Fabric& fabric) {
  Grouped grouped{std::vector<std::uint32_t>(fabric.links.size()), std::vector<std::uint32_t>(fabric.nodes.size() + 1)};
  for (const Link& link : fabric.links) ++grouped.first[link.*end + 1];
  for (std::size_t node = 0; node < fabric.nodes.size(); ++node) grouped.first[node + 1] += grouped.first[node];
  std::vector<std::uint32_t> at(grouped.first.begin(), grouped.first.end() - 1);
  for (std::uint32_t link = 0; link < fabric.links.size(); ++link) grouped.links[at[fabric.links[link].*end]++] = link;
  return grouped;
}

// What a way costs; less is better.
struct Length {
  double latency = std::numeric_limits<double>::infinity();
  std::uint32_t hops = 0;

  friend bool operator==(const Length&, const Length&) = default;
  friend auto operator<=>(const Length&, const Length&) = default;  // NOLINT(modernize-use-nullptr): no pointer
};

// Whether each node is met when links are walked from their end `here` to their end `there`.
std::vector<bool> met_from(std::uint32_t node, std::uint32_t Link::*here, std::uint32_t Link::*there,
                           const Fabric& fabric) {
  const Grouped grouped = group_by(here, fabric);
  std::vector<bool> met(fabric.nodes.size());
  std::vector<std::uint32_t> open = {node};
  met[node] = true;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (std::uint32_t i = grouped.first[at]; i < grouped.first[at + 1]; ++i) {
      const std::uint32_t next = fabric.links[grouped.links[i]].*there;
      if (met[next]) continue;
      met[next] = true;
      open.push_back(next);
    }
  }
  return met;
}

}  // namespace

Routes::Routes(const Fabric& fabric, std::size_t most_entries) : fabric_(fabric) {
  if (fabric.next_link) return;
  Grouped grouped = group_by(&Link::to, fabric);
  arriving_ = std::move(grouped.links);
  first_arriving_ = std::move(grouped.first);
  most_kept_ = std::max<std::size_t>(most_entries / std::max<std::size_t>(fabric.nodes.size(), 1), 1);
}

std::uint32_t Routes::next(std::uint32_t at, std::uint32_t to) {
  if (at == to) return kNoLink;
  return fabric_.next_link ? fabric_.next_link(at, to) : table_to(to)[at];
}

std::vector<std::uint32_t> Routes::between(std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> links;
  append(from, to, links);
  return links;
}

void Routes::append(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) {
  const std::size_t before = links.size();
  for (std::uint32_t at = from; at != to; at = fabric_.links[links.back()].to) {
    const std::uint32_t link = next(at, to);
    if (link == kNoLink) return;
    links.push_back(link);
    TUTTI_ASSERT(links.size() - before <= fabric_.nodes.size(), "a route meets no node twice");
  }
}

const Routes::Table& Routes::table_to(std::uint32_t to) {
  if (const auto found = found_.find(to); found != found_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
    return kept_.front().table;
  }
  if (kept_.size() >= most_kept_) {
    found_.erase(kept_.back().to);
    kept_.pop_back();
  }
  kept_.push_front({to, find_ways_to(to)});
  found_[to] = kept_.begin();
  return kept_.front().table;
}

// By E. W. Dijkstra (1959), from the destination against the links.
Routes::Table Routes::find_ways_to(std::uint32_t to) const {
  std::vector<Length> lengths(fabric_.nodes.size());
  Table next(fabric_.nodes.size(), kNoLink);
  using Entry = std::tuple<Length, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  lengths[to] = {0, 0};
  open.emplace(lengths[to], to);
  while (!open.empty()) {
    const auto [length, at] = open.top();
    open.pop();
    if (length != lengths[at]) continue;  // a better one was found since
    for (std::uint32_t i = first_arriving_[at]; i < first_arriving_[at + 1]; ++i) {
      const std::uint32_t number = arriving_[i];
      const Link& link = fabric_.links[number];
      const Length through{length.latency + link.latency, length.hops + 1};
      if (through > lengths[link.from]) continue;
      if (through == lengths[link.from]) {
        next[link.from] = std::min(next[link.from], number);
        continue;
      }
      lengths[link.from] = through;
      next[link.from] = number;
      open.emplace(through, link.from);
    }
  }
  return next;
}

std::optional<Apart> find_apart(const Fabric& fabric) {
  if (fabric.ranks.empty()) return std::nullopt;
  const std::uint32_t first = fabric.ranks.front().node;
  // Who reaches the first, and is reached from it, reaches all who do.
  const std::vector<bool> reached = met_from(first, &Link::from, &Link::to, fabric);
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank)
    if (!reached[fabric.ranks[rank].node]) return Apart{0, rank};
  const std::vector<bool> reaching = met_from(first, &Link::to, &Link::from, fabric);
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank)
    if (!reaching[fabric.ranks[rank].node]) return Apart{rank, 0};
  return std::nullopt;
}

}  // namespace tutti::fabric
