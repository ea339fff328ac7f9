// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/symmetry.hpp"

#include <algorithm>
#include <set>

#include "fabric/routes.hpp"
#include "simulate/engine/connections.hpp"
#include "simulate/engine/cursor.hpp"

namespace tutti::simulate {

namespace {

// Steps that are looked at to see whether ranks are alike.
constexpr std::uint64_t kMostSteps = 20'000'000;
constexpr std::uint64_t kMostLinks = 5'000'000;
constexpr std::uint32_t kSamples = 16;

std::uint64_t link_key(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32U | to; }

bool is_alike(const fabric::Link& a, const fabric::Link& b) {
  return a.bandwidth == b.bandwidth && a.latency == b.latency && a.gap == b.gap;
}

bool is_direct_or_post(const Step& step) { return is_direct(step) || step.kind != StepKind::combine; }

// The rank at each node; nothing where a node has several, or where ranks differ in what they have.
std::optional<std::vector<std::uint32_t>> rank_of_each_node(const fabric::Fabric& fabric) {
  std::vector<std::uint32_t> ranks(fabric.nodes.size(), kNobody);
  std::vector<bool> has_rank(fabric.cores.size());
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank) {
    const fabric::RankPlacement& place = fabric.ranks[rank];
    if (ranks[place.node] != kNobody || has_rank[place.core]) return std::nullopt;
    has_rank[place.core] = true;
    if (place.costs != fabric.ranks[0].costs || place.memory != fabric.ranks[0].memory) return std::nullopt;
    ranks[place.node] = rank;
  }
  return ranks;
}

}  // namespace

Symmetry::Symmetry(const fabric::Fabric& fabric, std::vector<std::uint32_t> rank_of_node, Watch& watch)
    : fabric_(&fabric), watch_(&watch), rank_of_node_(std::move(rank_of_node)) {
  for (std::uint32_t link = 0; link < fabric.links.size(); ++link)
    between_[link_key(fabric.links[link].from, fabric.links[link].to)].push_back(link);
}

std::optional<Symmetry> Symmetry::find(const Schedule& schedule, const fabric::Fabric& fabric, Fusion fusion,
                                       const Sizes& sizes, Watch& watch) {
  const std::uint32_t all = fabric.num_ranks();
  if (schedule.num_ranks != all || all < 2) return std::nullopt;
  std::optional<std::vector<std::uint32_t>> ranks = rank_of_each_node(fabric);
  if (!ranks) return std::nullopt;
  Symmetry symmetry(fabric, *std::move(ranks), watch);
  for (std::uint32_t width = all; width > 1; --width) {
    if (watch.is_over(1)) break;
    if (all % width != 0) continue;
    const std::uint32_t rows = all / width;
    for (std::uint32_t height = rows; height > 0; --height) {
      if (rows % height != 0 || (height == 1 && rows > 1)) continue;
      symmetry.lengths_ = {width, height, rows / height};
      // Steps first: most schedules that lack the symmetry show it at the first rank.
      if (symmetry.keeps_steps(schedule, fusion, sizes) && symmetry.keeps_links() &&
          symmetry.keeps_ways(schedule, fusion))
        return symmetry;
    }
  }
  return std::nullopt;
}

std::uint32_t Symmetry::seen_from(std::uint32_t origin, std::uint32_t rank) const {
  std::uint32_t seen = 0;
  for (std::uint32_t stride = 1, d = 0; d < lengths_.size(); stride *= lengths_[d], ++d) {
    const std::uint32_t length = lengths_[d];
    seen += stride * ((rank / stride % length + length - origin / stride % length) % length);
  }
  return seen;
}

std::uint32_t Symmetry::node_seen_from(std::uint32_t origin, std::uint32_t node) const {
  return rank_of_node_[node] == kNobody ? node : fabric_->ranks[seen_from(origin, rank_of_node_[node])].node;
}

// kNobody where there is none.
std::uint32_t Symmetry::link_seen_from(std::uint32_t origin, std::uint32_t link) const {
  const fabric::Link& seen = fabric_->links[link];
  const std::vector<std::uint32_t>& alike = between_.find(link_key(seen.from, seen.to))->second;
  const auto number = static_cast<std::size_t>(std::find(alike.begin(), alike.end(), link) - alike.begin());
  const auto found = between_.find(link_key(node_seen_from(origin, seen.from), node_seen_from(origin, seen.to)));
  return found == between_.end() || number >= found->second.size() ? kNobody : found->second[number];
}

std::uint32_t Symmetry::standing_for(std::uint32_t link) const {
  const std::uint32_t from = rank_of_node_[fabric_->links[link].from];
  const std::uint32_t to = rank_of_node_[fabric_->links[link].to];
  if (from == kNobody && to == kNobody) return link;
  return link_seen_from(from == kNobody ? to : from, link);
}

// What holds for a step along each dimension holds for all translations.
bool Symmetry::keeps_links() const {
  for (std::uint32_t stride = 1, d = 0; d < lengths_.size(); stride *= lengths_[d], ++d) {
    if (lengths_[d] == 1) continue;
    for (std::uint32_t link = 0; link < fabric_->links.size(); ++link) {
      if (watch_->is_over(1)) return false;
      const std::uint32_t seen = link_seen_from(stride, link);
      if (seen == kNobody || !is_alike(fabric_->links[link], fabric_->links[seen])) return false;
    }
  }
  return true;
}

// The ways to the ranks that rank 0 sends to, seen from as many ranks as keeps_steps looks at at least.
bool Symmetry::keeps_ways(const Schedule& schedule, Fusion fusion) const {
  std::set<std::uint32_t> peers;
  for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
    Cursor cursor(schedule, 0, lane, fusion);
    while (const Step* step = cursor.next())
      for (const Endpoint& end : step->destinations)
        if (end.place == Place::message) peers.insert(end.rank);
  }
  fabric::Routes routes(*fabric_);
  const auto node = [&](std::uint32_t rank) { return fabric_->ranks[rank].node; };
  const std::uint32_t all = schedule.num_ranks;
  std::uint64_t looked_at = 0;
  for (std::uint32_t rank = 1; rank < all;) {
    for (const std::uint32_t peer : peers) {
      // Where `peer` is seen from rank 0, this is seen from `rank`.
      const std::uint32_t far = seen_from(opposite(rank), peer);
      const std::vector<std::uint32_t> first = routes.between(node(0), node(peer));
      const std::vector<std::uint32_t> other = routes.between(node(rank), node(far));
      if (first.size() != other.size()) return false;
      for (std::size_t link = 0; link < first.size(); ++link)
        if (link_seen_from(rank, other[link]) != first[link]) return false;
      looked_at += first.size();
      if (watch_->is_over(1 + first.size())) return false;
    }
    if (rank == all - 1) break;
    const bool is_little = looked_at / rank < kMostLinks / all;
    rank = is_little ? rank + 1 : std::min(rank + std::max(1U, all / kSamples), all - 1);
  }
  return true;
}

bool Symmetry::keeps_steps(const Schedule& schedule, Fusion fusion, const Sizes& sizes) const {
  const auto is_same_end = [&](const Endpoint& a, const Endpoint& b, std::uint32_t origin) {
    if (a.place != b.place || a.channel != b.channel) return false;
    if (a.place != Place::local && seen_from(origin, b.rank) != a.rank) return false;
    if (a.slice.space != b.slice.space || a.slice.size() != b.slice.size()) return false;
    return sizes.bytes(0, a.slice, 0) == sizes.bytes(0, b.slice, 0);
  };
  const auto is_same_step = [&](const Step& a, const Step& b, std::uint32_t origin) {
    if (is_direct_or_post(a) || is_direct_or_post(b)) return false;
    if (a.number != b.number || a.after != b.after) return false;
    const auto same = [&](const Endpoint& x, const Endpoint& y) { return is_same_end(x, y, origin); };
    return std::equal(a.sources.begin(), a.sources.end(), b.sources.begin(), b.sources.end(), same) &&
           std::equal(a.destinations.begin(), a.destinations.end(), b.destinations.begin(), b.destinations.end(), same);
  };
  std::uint64_t looked_at = 0;
  // Returns whether the lane is that of rank 0.
  const auto is_same_lane = [&](std::uint32_t origin, std::uint32_t lane) {
    Cursor first(schedule, 0, lane, fusion);
    Cursor other(schedule, origin, lane, fusion);
    while (true) {
      const Step* a = first.next();
      const Step* b = other.next();
      if (a == nullptr || b == nullptr) return a == b;
      ++looked_at;
      if (watch_->is_over(1 + a->sources.size() + a->destinations.size())) return false;
      if (!is_same_step(*a, *b, origin)) return false;
    }
  };
  const std::uint32_t all = schedule.num_ranks;
  for (std::uint32_t rank = 1, looked = 0; rank < all; ++looked) {
    for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane)
      if (!is_same_lane(rank, lane)) return false;
    // All of them, or so many that each is as far from the next.
    const bool is_little = looked_at / rank < kMostSteps / all;
    if (rank == all - 1) break;
    rank = is_little ? rank + 1 : std::min(rank + std::max(1U, all / kSamples), all - 1);
  }
  return true;
}

}  // namespace tutti::simulate
