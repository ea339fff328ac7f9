// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/symmetry.hpp"

#include <algorithm>
#include <map>
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

// Half-way around a ring of even length a message goes the one way or the other, by where it begins (fabric/grids.cpp);
// with a length of 2 there is one way.
std::uint32_t period_of_ways(std::uint32_t length) { return length > 2 && length % 2 == 0 ? 2 : 1; }

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
      const Lengths lengths = {width, height, rows / height};
      symmetry.set(lengths, {1, 1, 1});
      if (symmetry.holds(schedule, fusion, sizes)) return symmetry;
      Lengths periods;
      std::transform(lengths.begin(), lengths.end(), periods.begin(), period_of_ways);
      if (periods == Lengths{1, 1, 1}) continue;
      symmetry.set(lengths, periods);
      if (symmetry.holds(schedule, fusion, sizes)) return symmetry;
    }
  }
  return std::nullopt;
}

// Steps first: most schedules that lack the symmetry show it at the first rank.
bool Symmetry::holds(const Schedule& schedule, Fusion fusion, const Sizes& sizes) const {
  return keeps_steps(schedule, fusion, sizes) && keeps_links() && keeps_ways(schedule, fusion);
}

void Symmetry::set(Lengths lengths, Lengths periods) {
  lengths_ = lengths;
  periods_ = periods;
  representatives_.clear();
  for (std::uint32_t z = 0; z < periods[2]; ++z)
    for (std::uint32_t y = 0; y < periods[1]; ++y)
      for (std::uint32_t x = 0; x < periods[0]; ++x) representatives_.push_back(x + lengths[0] * (y + lengths[1] * z));
}

std::uint32_t Symmetry::representative(std::uint32_t rank) const {
  std::uint32_t found = 0;
  for (std::uint32_t stride = 1, d = 0; d < lengths_.size(); stride *= lengths_[d], ++d)
    found += stride * (rank / stride % lengths_[d] % periods_[d]);
  return found;
}

std::uint32_t Symmetry::origin_of(std::uint32_t rank) const { return rank - representative(rank); }

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
  return link_seen_from(origin_of(from == kNobody ? to : from), link);
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

template <typename IsAlike>
bool Symmetry::are_alike(const IsAlike& is_alike, const std::uint64_t& looked_at, std::uint64_t most) const {
  const std::uint32_t all = lengths_[0] * lengths_[1] * lengths_[2];
  std::uint64_t looked = 0;
  // One step along some of the dimensions, so that each class is among them.
  for (std::uint32_t corner = 1; corner < 8; ++corner) {
    std::uint32_t rank = 0;
    for (std::uint32_t stride = 1, d = 0; d < lengths_.size(); stride *= lengths_[d], ++d)
      rank += lengths_[d] > 1 ? stride * (corner >> d & 1U) : 0;
    if (rank == 0) continue;
    if (!is_alike(rank)) return false;
    ++looked;
  }
  const std::uint32_t step = looked_at / looked < most / all ? 1 : std::max(1U, all / kSamples);
  for (std::uint32_t rank = 1; rank < all; rank += step)
    if (!is_alike(rank)) return false;
  return is_alike(all - 1);
}

// The ways to the ranks that each representative sends to, and back, seen from the ranks that it stands for.
bool Symmetry::keeps_ways(const Schedule& schedule, Fusion fusion) const {
  std::map<std::uint32_t, std::set<std::uint32_t>> peers;
  for (const std::uint32_t representative : representatives_)
    for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
      Cursor cursor(schedule, representative, lane, fusion);
      while (const Step* step = cursor.next())
        for (const Endpoint& end : step->destinations)
          if (end.place == Place::message) peers[representative].insert(end.rank);
    }
  fabric::Routes routes(*fabric_);
  const auto node = [&](std::uint32_t rank) { return fabric_->ranks[rank].node; };
  std::uint64_t looked_at = 0;
  const auto is_same_way = [&](std::uint32_t origin, const std::vector<std::uint32_t>& first,
                               const std::vector<std::uint32_t>& other) {
    looked_at += first.size();
    if (watch_->is_over(1 + first.size()) || first.size() != other.size()) return false;
    for (std::size_t link = 0; link < first.size(); ++link)
      if (link_seen_from(origin, other[link]) != first[link]) return false;
    return true;
  };
  const bool has_ways_back = fabric_->queue.credit_bytes > 0;
  const auto is_alike = [&](std::uint32_t rank) {
    const std::uint32_t first = representative(rank);
    const std::uint32_t origin = origin_of(rank);
    for (const std::uint32_t peer : peers[first]) {
      // Where `peer` is seen from the representative, this is seen from `rank`.
      const std::uint32_t far = seen_from(seen_from(origin, 0), peer);
      if (!is_same_way(origin, routes.between(node(first), node(peer)), routes.between(node(rank), node(far))))
        return false;
      if (has_ways_back &&
          !is_same_way(origin, routes.between(node(peer), node(first)), routes.between(node(far), node(rank))))
        return false;
    }
    return true;
  };
  return are_alike(is_alike, looked_at, kMostLinks);
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
  // Whether the lane is that of the rank's representative.
  const auto is_same_lane = [&](std::uint32_t rank, std::uint32_t lane) {
    Cursor first(schedule, representative(rank), lane, fusion);
    Cursor other(schedule, rank, lane, fusion);
    while (true) {
      const Step* a = first.next();
      const Step* b = other.next();
      if (a == nullptr || b == nullptr) return a == b;
      ++looked_at;
      if (watch_->is_over(1 + a->sources.size() + a->destinations.size())) return false;
      if (!is_same_step(*a, *b, origin_of(rank))) return false;
    }
  };
  const auto is_alike = [&](std::uint32_t rank) {
    for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane)
      if (!is_same_lane(rank, lane)) return false;
    return true;
  };
  return are_alike(is_alike, looked_at, kMostSteps);
}

}  // namespace tutti::simulate
