// SPDX-License-Identifier: Apache-2.0
// A schedule that does its work in parts side by side, as NCCL does in channels: each part is the same schedule on its
// share of every piece, with lanes and connections of its own, so that one part is on its way while another is folded.
//
// Pure; thread-safe. The schedule that comes back shares the other's lanes.
#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"

namespace tutti {

// Part p of `parts` has the pieces p·P to p·P + P-1 of every block that the given schedule cuts into P, the lanes
// p·L to p·L + L-1 of its L, and the channels p, parts + p, 2·parts + p … Named "ring in 4 parts". For schedules whose
// steps only pass messages, fold and copy: posts are numbered by rank and cannot be multiplied so.
[[nodiscard]] Schedule side_by_side(const Schedule& schedule, std::uint32_t parts);

}  // namespace tutti
