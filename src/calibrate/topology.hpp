// SPDX-License-Identifier: Apache-2.0
// Where the cores that this process may use are: which share their last cache, and which a package. From hwloc; without
// it every processor is a core of its own, and all are taken to be equally far from each other. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace tutti::calibrate {

// A core, by the first of its processors that may be used.
struct CorePlace {
  int processor = 0;        // as the system counts them
  std::uint32_t cache = 0;  // the last that is shared, counted over the machine
  std::uint32_t package = 0;
  friend bool operator==(const CorePlace&, const CorePlace&) = default;
};

// How far two cores are from each other.
enum class Apart : std::uint8_t { not_at_all, caches, packages };
[[nodiscard]] Apart apart(const CorePlace& a, const CorePlace& b);

struct Topology {
  std::vector<CorePlace> cores;    // neighbours stand together
  std::vector<std::string> lines;  // the same for people, each part behind and under what it is part of

  // The first two cores that are that far apart.
  [[nodiscard]] std::optional<std::pair<CorePlace, CorePlace>> pair(Apart distance) const;
};

// The machine at hand, and what of it this process may use.
[[nodiscard]] Topology topology_of_machine();

// Of a machine that is told in hwloc's words, "pack:2 l3:2 core:4 pu:2", all of which may be used.
[[nodiscard]] Result<Topology> topology_of(const std::string& synthetic);

}  // namespace tutti::calibrate
