// How a fabric is shown. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "bench/results/table.hpp"
#include "fabric/fabric.hpp"

namespace tutti::cli {

inline constexpr std::size_t kMostDrawnNodes = 1024;

// A picture: ranks as discs with their numbers, switches as squares, cables coloured by what they cost. Those that
// would run over other nodes, such as the ones that close a torus, are arcs.
[[nodiscard]] std::string fabric_to_svg(const fabric::Fabric& fabric);

// A line: how many there are of everything, and how far apart.
[[nodiscard]] Table fabric_summary(const fabric::Fabric& fabric);

// All generators with their parameters, and all fabrics that come with the program.
[[nodiscard]] Table fabrics_table();

}  // namespace tutti::cli
