// SPDX-License-Identifier: Apache-2.0
#include "report/fabric/fabric_cables.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "fabric/figures.hpp"

namespace tutti::report {

std::vector<Cable> cables_of(const fabric::Fabric& fabric) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::string>, Cable> cables;
  for (const fabric::Link& link : fabric.links) {
    const auto [a, b] = std::minmax(link.from, link.to);
    const std::string cost = fabric::link_cost(link);
    Cable& cable = cables[{a, b, cost}];
    cable.a = a;
    cable.b = b;
    cable.cost = cost;
    (link.from == a ? cable.there : cable.back) = true;
  }
  std::vector<Cable> all;
  all.reserve(cables.size());
  for (auto& [key, cable] : cables) all.push_back(std::move(cable));
  return all;
}

}  // namespace tutti::report
