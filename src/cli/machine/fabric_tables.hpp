// SPDX-License-Identifier: Apache-2.0
// Fabrics as tables. Pure; thread-safe.
#pragma once

#include "bench/views/table.hpp"
#include "fabric/fabric.hpp"

namespace tutti::cli {

// A line: how many there are of everything, and how far apart.
[[nodiscard]] Table fabric_summary(const fabric::Fabric& fabric);

// All generators with their parameters, and all fabrics that come with the program.
[[nodiscard]] Table fabrics_table();

}  // namespace tutti::cli
