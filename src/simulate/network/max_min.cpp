// SPDX-License-Identifier: Apache-2.0
#include "simulate/network/max_min.hpp"

#include <algorithm>
#include <limits>

namespace tutti::simulate {

MaxMin::MaxMin(std::vector<double> capacities) : links_(capacities.size()) {
  for (std::size_t link = 0; link < capacities.size(); ++link) links_[link].capacity = capacities[link];
}

void MaxMin::solve(std::span<Flow> flows) {
  known_.assign(flows.size(), false);
  for (std::uint32_t number = 0; number < flows.size(); ++number) {
    flows[number].rate = std::numeric_limits<double>::infinity();
    for (const std::uint32_t name : flows[number].links) {
      Link& link = links_[name];
      if (link.capacity <= 0) continue;
      if (link.flows.empty()) {
        used_.push_back(name);
        link.left = link.capacity;
      }
      link.flows.push_back(number);
      ++link.open;
    }
  }
  while (true) {
    const Link* fullest = nullptr;
    for (const std::uint32_t name : used_) {
      const Link& link = links_[name];
      if (link.open == 0) continue;
      if (fullest == nullptr || link.left / link.open < fullest->left / fullest->open) fullest = &link;
    }
    if (fullest == nullptr) break;
    const double rate = std::max(0.0, fullest->left / fullest->open);
    for (const std::uint32_t number : fullest->flows) {
      if (known_[number]) continue;
      known_[number] = true;
      flows[number].rate = rate;
      for (const std::uint32_t name : flows[number].links) {
        links_[name].left -= rate;
        if (links_[name].open > 0) --links_[name].open;
      }
    }
  }
  for (const std::uint32_t name : used_) {
    links_[name].flows.clear();
    links_[name].open = 0;
  }
  used_.clear();
}

}  // namespace tutti::simulate
