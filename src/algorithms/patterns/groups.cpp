// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/groups.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tutti::patterns {

Groups::Groups(const std::vector<std::uint32_t>& sizes) : firsts_(1, 0) {
  TUTTI_ASSERT(!sizes.empty(), "there is a group");
  least_size_ = *std::min_element(sizes.begin(), sizes.end());
  TUTTI_ASSERT(least_size_ > 0, "no group is empty");
  for (const std::uint32_t size : sizes) firsts_.push_back(firsts_.back() + size);
}

std::uint32_t Groups::group_of(std::uint32_t rank) const {
  const auto next = std::upper_bound(firsts_.begin(), firsts_.end(), rank);
  return static_cast<std::uint32_t>(next - firsts_.begin() - 1);
}

}  // namespace tutti::patterns
