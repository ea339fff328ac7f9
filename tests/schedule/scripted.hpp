// SPDX-License-Identifier: Apache-2.0
// Schedules written by hand for tests: one coroutine for all lanes of all ranks.
#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"

namespace tutti {

struct Shape {
  std::uint32_t num_ranks = 2;
  std::uint32_t num_lanes = 1;
  std::uint32_t pieces = 1;
  std::uint32_t scratch_blocks = 0;
  OrderClass order = OrderClass::free;
};

inline Schedule scripted(const Shape& shape, LaneFunction lane) {
  const Division pieces = {1, shape.pieces};
  return {
      .name = "scripted",
      .collective = Collective::all_reduce,
      .num_ranks = shape.num_ranks,
      .root = 0,
      .num_lanes = shape.num_lanes,
      .spaces = {{pieces, pieces, {shape.scratch_blocks, shape.pieces}}},
      .order = shape.order,
      .lane = std::move(lane),
  };
}

}  // namespace tutti
