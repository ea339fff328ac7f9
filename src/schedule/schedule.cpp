// SPDX-License-Identifier: Apache-2.0
#include "schedule/schedule.hpp"

#include "schedule/fuse.hpp"

namespace tutti {

Program collect(const Schedule& schedule, std::uint32_t rank, Fusion fusion) {
  Program program;
  for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
    Walk walk = schedule.walk(rank, lane);
    std::vector<Step> steps;
    while (const Step* step = walk.next()) steps.push_back(*step);
    program.lanes.push_back(fusion == Fusion::neighbours ? fuse(std::move(steps)) : std::move(steps));
  }
  return program;
}

}  // namespace tutti
