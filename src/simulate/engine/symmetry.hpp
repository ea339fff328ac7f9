// SPDX-License-Identifier: Apache-2.0
// Ranks that are alike: on rings and tori, and around one switch, a schedule may be the same seen from every rank. Then
// one rank says all: what it sends to the rank at some distance, it gets from the one at that distance the other way,
// at the same time; and each link stands for all that lie like it.
//
// The symmetries looked for are the translations of a grid of up to three dimensions around which one can go. That the
// fabric has them is checked on every link; that the schedule has them, on every rank while that is little work, and
// else on kSamples ranks. Borrows the fabric. One thread at a time.
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

  // Where `rank` is for one who calls `origin` rank 0; and the rank that rank 0 is for one who calls `rank` so.
  [[nodiscard]] std::uint32_t seen_from(std::uint32_t origin, std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t opposite(std::uint32_t rank) const { return seen_from(rank, 0); }

  // The link that stands for it and for all like it.
  [[nodiscard]] std::uint32_t standing_for(std::uint32_t link) const;

 private:
  using Lengths = std::array<std::uint32_t, 3>;
  // The links between two nodes, in the order of their numbers.
  using LinksBetween = std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>;

  Symmetry(const fabric::Fabric& fabric, std::vector<std::uint32_t> rank_of_node, Watch& watch);

  [[nodiscard]] bool keeps_links() const;
  [[nodiscard]] bool keeps_steps(const Schedule& schedule, Fusion fusion, const Sizes& sizes) const;
  [[nodiscard]] bool keeps_ways(const Schedule& schedule, Fusion fusion) const;
  [[nodiscard]] std::uint32_t node_seen_from(std::uint32_t origin, std::uint32_t node) const;
  [[nodiscard]] std::uint32_t link_seen_from(std::uint32_t origin, std::uint32_t link) const;

  const fabric::Fabric* fabric_;
  Watch* watch_;
  std::vector<std::uint32_t> rank_of_node_;  // kNobody: a switch
  LinksBetween between_;
  Lengths lengths_ = {1, 1, 1};
};

}  // namespace tutti::simulate
