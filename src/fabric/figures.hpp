// SPDX-License-Identifier: Apache-2.0
// What there is to say of a fabric in a line. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fabric/fabric.hpp"

namespace tutti::fabric {

// Between two ranks, over all of them.
struct LongestWay {
  std::size_t links = 0;  // of the way with the most
  double latency = 0;     // of the way with the greatest
};

// Nothing where there are too many ranks to try all pairs.
[[nodiscard]] std::optional<LongestWay> longest_way(const Fabric& fabric);

// What can flow at once from the first half of the ranks to the second, by any ways (the least cut between them). 0 is
// no limit. Nothing for a single rank, where a core has ranks of both halves, and where the fabric is too large.
[[nodiscard]] std::optional<double> between_halves(const Fabric& fabric);

// "12 of 25GB/s, 1us; 4 of 50GB/s, 500ns": how many links cost what, of the first eight kinds; and how many of others.
[[nodiscard]] std::string link_costs(const Fabric& fabric);
// "25GB/s, 1us", and the gap where there is one.
[[nodiscard]] std::string link_cost(const Link& link);

}  // namespace tutti::fabric
