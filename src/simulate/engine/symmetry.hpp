// SPDX-License-Identifier: Apache-2.0
// Ranks that are alike: on rings and tori, and around one switch, a schedule may be the same seen from every rank. Then
// one rank says all: what it sends to the rank at some distance, it gets from the one at that distance the other way,
// at the same time; and each link stands for all that lie like it. Or it is the same only every second rank along each
// dimension, since messages half-way around a ring go one way from even coordinates and the other way from odd ones:
// then a few ranks say all, each for a class of ranks.
//
// The symmetries looked for are the translations of a grid of up to three dimensions around which one can go. That the
// fabric has them is checked on every link; that the schedule has them, on every rank while that is little work, and
// else on kSamples ranks and those next to rank 0. Borrows the fabric. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fabric/fabric.hpp"
#include "schedule/schedule.hpp"
#include "simulate/engine/sizes.hpp"
#include "simulate/engine/watch.hpp"

namespace tutti::simulate {

class Symmetry {
 public:
  // Nothing where the ranks are not alike, or where it cannot be told. The sizes are those of a single round, which is
  // enough: pieces as long as each other are so in every round.
  // Nothing either once the watch is over.
  [[nodiscard]] static std::optional<Symmetry> find(const Schedule& schedule, const fabric::Fabric& fabric,
                                                    Fusion fusion, const Sizes& sizes, Watch& watch);

  // The ranks that each stand for a class of all, in their order; and which of them stands for `rank`.
  [[nodiscard]] const std::vector<std::uint32_t>& representatives() const { return representatives_; }
  [[nodiscard]] std::uint32_t representative(std::uint32_t rank) const;
  // Where `rank` is for one who calls `other` by its representative.
  [[nodiscard]] std::uint32_t seen_by_class_of(std::uint32_t other, std::uint32_t rank) const {
    return seen_from(origin_of(other), rank);
  }

  // The link that stands for it and for all like it.
  [[nodiscard]] std::uint32_t standing_for(std::uint32_t link) const;

 private:
  using Lengths = std::array<std::uint32_t, 3>;
  // The links between two nodes, in the order of their numbers.
  using LinksBetween = std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>;

  Symmetry(const fabric::Fabric& fabric, std::vector<std::uint32_t> rank_of_node, Watch& watch);

  void set(Lengths lengths, Lengths periods);
  // What holds with these lengths and periods.
  [[nodiscard]] bool holds(const Schedule& schedule, Fusion fusion, const Sizes& sizes) const;
  [[nodiscard]] bool keeps_links() const;
  [[nodiscard]] bool keeps_steps(const Schedule& schedule, Fusion fusion, const Sizes& sizes) const;
  [[nodiscard]] bool keeps_ways(const Schedule& schedule, Fusion fusion) const;
  // Whether that is so of every rank, or of those looked at: so many, unless the first show that all are more work than
  // `most`. Work done is counted in `looked_at`.
  template <typename IsAlike>
  [[nodiscard]] bool are_alike(const IsAlike& is_alike, const std::uint64_t& looked_at, std::uint64_t most) const;
  // Where `rank` is for one who calls `origin` rank 0.
  [[nodiscard]] std::uint32_t seen_from(std::uint32_t origin, std::uint32_t rank) const;
  // The rank that the representative of `rank` would have to call rank 0 to see what that one sees.
  [[nodiscard]] std::uint32_t origin_of(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t node_seen_from(std::uint32_t origin, std::uint32_t node) const;
  [[nodiscard]] std::uint32_t link_seen_from(std::uint32_t origin, std::uint32_t link) const;

  const fabric::Fabric* fabric_;
  Watch* watch_;
  std::vector<std::uint32_t> rank_of_node_;  // kNobody: a switch
  LinksBetween between_;
  Lengths lengths_ = {1, 1, 1};
  Lengths periods_ = {1, 1, 1};  // ranks so far apart along a dimension are alike
  std::vector<std::uint32_t> representatives_ = {0};
};

}  // namespace tutti::simulate
