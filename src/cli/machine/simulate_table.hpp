// SPDX-License-Identifier: Apache-2.0
// Tables of what was simulated. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/views/table.hpp"
#include "cli/machine/simulate_cells.hpp"
#include "fabric/fabric.hpp"

namespace tutti::cli {

// A row for each.
[[nodiscard]] Table table_of(const std::vector<Simulated>& all, bool has_fabrics);
// The links that were busiest, of each.
[[nodiscard]] Table links_of(const std::vector<Simulated>& all, const fabric::Fabric& fabric, std::size_t most);
// Of each size, which are not told apart from the fastest: their intervals of 90 % meet. Empty where none has one.
[[nodiscard]] std::string undecided(const std::vector<Simulated>& all);

}  // namespace tutti::cli
