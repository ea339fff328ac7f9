// SPDX-License-Identifier: Apache-2.0
// Fabrics small enough to reckon by hand.
#pragma once

#include <cstdint>

#include "fabric/fabric.hpp"

namespace tutti::simulate {

// A rank a node, with a core of its own.
inline fabric::Fabric ranks_without_links(std::uint32_t num_ranks) {
  fabric::Fabric made;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    made.nodes.push_back({});
    made.cores.push_back({});
    made.ranks.push_back({.node = rank, .core = rank});
  }
  return made;
}

// Each two ranks have a wire of their own in each direction.
inline fabric::Fabric wires(std::uint32_t num_ranks, double latency, double bandwidth) {
  fabric::Fabric made = ranks_without_links(num_ranks);
  made.name = "wires";
  for (std::uint32_t from = 0; from < num_ranks; ++from)
    for (std::uint32_t to = 0; to < num_ranks; ++to)
      made.links.push_back({.from = from, .to = to, .bandwidth = bandwidth, .latency = latency});
  made.next_link = [num_ranks](std::uint32_t at, std::uint32_t to) { return at * num_ranks + to; };
  return made;
}

// All ranks around one switch, a link each way.
inline fabric::Fabric star(std::uint32_t num_ranks, double latency, double bandwidth) {
  fabric::Fabric made = ranks_without_links(num_ranks);
  made.name = "star";
  made.nodes.push_back({.name = "switch", .is_switch = true, .multicast = true});
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    made.links.push_back({.from = rank, .to = num_ranks, .bandwidth = bandwidth, .latency = latency});
    made.links.push_back({.from = num_ranks, .to = rank, .bandwidth = bandwidth, .latency = latency});
  }
  made.next_link = [num_ranks](std::uint32_t at, std::uint32_t to) { return at == num_ranks ? 2 * to + 1 : 2 * at; };
  return made;
}

// Each rank has a link to both its neighbours; messages go the shorter way around.
inline fabric::Fabric ring(std::uint32_t num_ranks, double latency, double bandwidth) {
  fabric::Fabric made = ranks_without_links(num_ranks);
  made.name = "ring";
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    made.links.push_back({.from = rank, .to = (rank + 1) % num_ranks, .bandwidth = bandwidth, .latency = latency});
    made.links.push_back(
        {.from = rank, .to = (rank + num_ranks - 1) % num_ranks, .bandwidth = bandwidth, .latency = latency});
  }
  made.next_link = [num_ranks](std::uint32_t at, std::uint32_t to) {
    return 2 * at + ((to + num_ranks - at) % num_ranks * 2 > num_ranks ? 1U : 0U);
  };
  return made;
}

}  // namespace tutti::simulate
