// SPDX-License-Identifier: Apache-2.0
// The way from one node to another: by the fabric's own routes where it has them (next_link), else the one with the
// least latency, of those the one with the fewest links, and of those the one whose links have the lowest numbers,
// compared from the beginning.
//
// The fabric must outlive this and stay as it is. Ways by latency are found when they are first asked for and kept for
// a while, so objects belong to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "fabric/fabric.hpp"

namespace tutti::fabric {

inline constexpr std::uint32_t kNoLink = std::numeric_limits<std::uint32_t>::max();

class Routes {
 public:
  // Keeps ways by latency of up to `most_entries` pairs of nodes, but always those to one node.
  explicit Routes(const Fabric& fabric, std::size_t most_entries = std::size_t{1} << 24);

  // The link that leads from `at` towards `to`; kNoLink where they are the same, or where no way leads there.
  [[nodiscard]] std::uint32_t next(std::uint32_t at, std::uint32_t to);

  // All links of the way in their order; none where the nodes are the same, or where no way leads there.
  [[nodiscard]] std::vector<std::uint32_t> between(std::uint32_t from, std::uint32_t to);
  // The same, behind those that are there.
  void append(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links);

 private:
  // For a destination, the next link of each node.
  using Table = std::vector<std::uint32_t>;

  const Table& table_to(std::uint32_t to);
  [[nodiscard]] Table find_ways_to(std::uint32_t to) const;

  const Fabric& fabric_;
  // The links that arrive at each node: those of node n from first_arriving_[n] on. Empty where the fabric has routes.
  std::vector<std::uint32_t> arriving_;
  std::vector<std::uint32_t> first_arriving_;

  struct Kept {
    std::uint32_t to;
    Table table;
  };
  std::list<Kept> kept_;  // what was asked for last is in front
  std::unordered_map<std::uint32_t, std::list<Kept>::iterator> found_;
  std::size_t most_kept_ = 0;
};

// Two ranks of which the first cannot reach the second.
struct Apart {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

// Nothing where every rank can reach every other.
[[nodiscard]] std::optional<Apart> find_apart(const Fabric& fabric);

}  // namespace tutti::fabric
