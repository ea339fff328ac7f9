// SPDX-License-Identifier: Apache-2.0
// How many messages follow each other where groups of ranks that are halves of halves exchange: what comes from the
// other half is one message later than its sender had it, and nothing else has to be waited for. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tutti {

// At the rank with this place among `size`; of an odd number the first half has one more.
inline std::uint32_t halving_path_at(std::uint32_t place, std::uint32_t size) {
  if (size == 1) return 0;
  const std::uint32_t low = (size + 1) / 2;
  const bool is_low = place < low;
  const std::uint32_t own = is_low ? low : size - low;
  const std::uint32_t own_place = is_low ? place : place - low;
  const std::uint32_t others = size - own;
  return std::max(halving_path_at(own_place, own), 1 + halving_path_at(std::min(own_place, others - 1), others));
}

inline std::uint32_t halving_path(std::uint32_t num_ranks) {
  std::uint32_t longest = 0;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) longest = std::max(longest, halving_path_at(rank, num_ranks));
  return longest;
}

}  // namespace tutti
