// SPDX-License-Identifier: Apache-2.0
// Fabrics within a fabric: a copy of the inner one takes the place of each rank of the outer one. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "fabric/fabric.hpp"

namespace tutti::fabric {

// Where the inner fabric meets the outer one: one of its nodes, and the link there and back.
struct Gateway {
  std::uint32_t node = 0;
  Link link = {};
};

// The node that is meant where none is named: the last switch, else the first node.
[[nodiscard]] std::uint32_t usual_gateway(const Fabric& inner);

// The outer nodes keep their numbers, and those that had ranks pass on what comes; the copies follow, rank by rank.
// Their costs, memories and queue are the inner ones.
[[nodiscard]] Result<Fabric> nest(const Fabric& outer, const Fabric& inner, const Gateway& gateway);

}  // namespace tutti::fabric
