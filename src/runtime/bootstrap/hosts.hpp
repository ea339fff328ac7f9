// SPDX-License-Identifier: Apache-2.0
// Which host each rank of a communicator is on. Plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tutti {

struct Hosts {
  // By rank; hosts are numbered in the order of their first ranks. Empty: all are on one.
  std::vector<std::uint32_t> host_of;

  [[nodiscard]] std::uint32_t count() const {
    return host_of.empty() ? 1 : *std::max_element(host_of.begin(), host_of.end()) + 1;
  }
  [[nodiscard]] bool are_several() const { return count() > 1; }
  [[nodiscard]] bool are_near(std::uint32_t one, std::uint32_t other) const {
    return host_of.empty() || host_of[one] == host_of[other];
  }
  // Those on the rank's host, ascending.
  [[nodiscard]] std::vector<std::uint32_t> ranks_near(std::uint32_t rank) const {
    std::vector<std::uint32_t> near;
    for (std::uint32_t each = 0; each < host_of.size(); ++each)
      if (are_near(rank, each)) near.push_back(each);
    return near;
  }
  // How many lower ranks are on the rank's host.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t rank) const {
    std::uint32_t place = 0;
    for (std::uint32_t each = 0; each < rank; ++each) place += are_near(rank, each) ? 1 : 0;
    return place;
  }
  // How many ranks each host has, where those of a host are neighbours; empty where they are not.
  [[nodiscard]] std::vector<std::uint32_t> sizes() const {
    std::vector<std::uint32_t> sizes;
    for (std::size_t rank = 0; rank < host_of.size(); ++rank) {
      if (host_of[rank] + 1 < sizes.size()) return {};
      if (host_of[rank] == sizes.size()) sizes.push_back(0);
      ++sizes.back();
    }
    return sizes;
  }
};

}  // namespace tutti
