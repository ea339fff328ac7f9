// SPDX-License-Identifier: Apache-2.0
#include "simulate/network/max_min.hpp"

#include <algorithm>
#include <functional>
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
  const auto share_of = [](const Link& link) { return std::max(0.0, link.left / link.open); };
  waiting_.clear();
  for (const std::uint32_t name : used_) waiting_.emplace_back(share_of(links_[name]), name);
  std::make_heap(waiting_.begin(), waiting_.end(), std::greater<>());
  while (!waiting_.empty()) {
    std::pop_heap(waiting_.begin(), waiting_.end(), std::greater<>());
    auto& [share, name] = waiting_.back();
    const Link& fullest = links_[name];
    if (fullest.open == 0) {
      waiting_.pop_back();
      continue;
    }
    if (const double rate = share_of(fullest); rate > share) {
      share = rate;
      std::push_heap(waiting_.begin(), waiting_.end(), std::greater<>());
      continue;
    }
    const double rate = share;
    waiting_.pop_back();
    for (const std::uint32_t number : fullest.flows) {
      if (known_[number]) continue;
      known_[number] = true;
      flows[number].rate = rate;
      for (const std::uint32_t crossed : flows[number].links) {
        links_[crossed].left -= rate;
        if (links_[crossed].open > 0) --links_[crossed].open;
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
