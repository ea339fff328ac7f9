// SPDX-License-Identifier: Apache-2.0
// Pictures of nodes that are joined by rails: a row a node, a column a rail. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"

namespace tutti::report {

// Ranks as a grid: those of a row share the node's switch, those of a column a rail.
struct RailGrid {
  std::uint32_t num_columns = 1;
  std::vector<std::uint32_t> node_switches;  // of each row; empty where a node has a single rank
  std::vector<std::uint32_t> rails;          // of each column
};

// None where the fabric is not like that, or a link has another cost than the one back.
[[nodiscard]] std::optional<RailGrid> rail_grid_of(const fabric::Fabric& fabric);

// More than eight rows or columns are left out, and how many is said.
[[nodiscard]] std::string rails_to_svg(const fabric::Fabric& fabric, const RailGrid& grid);

}  // namespace tutti::report
