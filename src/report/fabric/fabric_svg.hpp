// SPDX-License-Identifier: Apache-2.0
// A picture of a fabric. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "fabric/fabric.hpp"

namespace tutti::report {

inline constexpr std::size_t kMostDrawnNodes = 1024;

// An SVG: ranks as discs with their numbers, switches as squares, cables coloured by what they cost. Cables that would
// run over other nodes, such as those that close a torus, are arcs.
// The remark, if any, stands below the title; the picture of a grid of rails has none.
[[nodiscard]] std::string fabric_to_svg(const fabric::Fabric& fabric, const std::string& remark = {});

}  // namespace tutti::report
