// SPDX-License-Identifier: Apache-2.0
// A trace as a schedule that the engine walks: operations that follow each other are a lane, all other dependencies
// are its steps' `after`. Ranks that can do much at a time have many lanes. Plain values; the schedule's copies share
// the steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "schedule/schedule.hpp"
#include "simulate/engine/additions.hpp"
#include "simulate/trace/match.hpp"
#include "simulate/trace/trace.hpp"

namespace tutti::simulate {

// Lanes of all ranks together; each needs about half a kilobyte while it runs.
inline constexpr std::uint64_t kMostTraceLanes = std::uint64_t{1} << 22U;

struct LaidOut {
  Schedule schedule;
  Additions additions;
  std::vector<std::uint32_t>
      operations;  // of each step, by the number that it has in `additions`: its number in its rank
};

// Code::unsupported where there would be too many lanes.
[[nodiscard]] Result<LaidOut> lay_out(const std::shared_ptr<const Trace>& trace, const Predecessors& before);

}  // namespace tutti::simulate
