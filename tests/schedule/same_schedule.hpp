// SPDX-License-Identifier: Apache-2.0
// Whether two schedules are the same: header and every step of every lane. For tests of what writes and reads them.
#pragma once

#include "schedule/listed.hpp"

namespace tutti {

// Divisions of spaces that are not there do not count.
inline bool same_header(const Schedule& a, const Schedule& b) {
  for (std::size_t space = 0; space < kNumSpaces; ++space) {
    const bool unused = a.spaces[space].blocks == 0 && b.spaces[space].blocks == 0;
    if (!unused && a.spaces[space] != b.spaces[space]) return false;
  }
  return a.name == b.name && a.collective == b.collective && a.num_ranks == b.num_ranks && a.root == b.root &&
         a.num_lanes == b.num_lanes && a.order == b.order && a.allows_in_place == b.allows_in_place &&
         a.allows_out_of_place == b.allows_out_of_place;
}

inline bool same_schedule(const Schedule& a, const Schedule& b) {
  if (!same_header(a, b)) return false;
  for (std::uint32_t rank = 0; rank < a.num_ranks; ++rank)
    if (collect(a, rank, Fusion::none).lanes != collect(b, rank, Fusion::none).lanes) return false;
  return true;
}

}  // namespace tutti
