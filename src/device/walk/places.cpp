// SPDX-License-Identifier: Apache-2.0
#include "device/walk/places.hpp"

#include <algorithm>
#include <iterator>

namespace tutti::device {

std::optional<std::uint64_t> Places::take(std::uint64_t bytes) {
  const auto found = std::find_if(free_.begin(), free_.end(), [&](const auto& room) { return room.second >= bytes; });
  if (found == free_.end()) return std::nullopt;
  const auto [place, size] = *found;
  free_.erase(found);
  if (size > bytes) free_[place + bytes] = size - bytes;
  return place;
}

void Places::give_back(std::uint64_t place, std::uint64_t bytes) {
  const auto behind = free_.lower_bound(place);
  if (behind != free_.end() && place + bytes == behind->first) {
    bytes += behind->second;
    free_.erase(behind);
  }
  if (const auto after = free_.lower_bound(place); after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == place) {
      before->second += bytes;
      return;
    }
  }
  free_[place] = bytes;
}

}  // namespace tutti::device
