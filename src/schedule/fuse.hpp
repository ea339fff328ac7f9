// SPDX-License-Identifier: Apache-2.0
// Fusing neighbours: the one pass, shared by all algorithms, that turns a step that makes a slice and the next step
// that sends that very slice on into one step with both destinations (recv_reduce, send → recv_reduce_send), so that
// the data is touched once. Pure functions; thread-safe.
//
// Two steps fuse when the second only forwards what the first wrote (its single source is one of the first's local
// destinations) and waits for nothing of its own. Where the second gives the slice up (Builder::send_away), the fused
// step does not store it.
#pragma once

#include <vector>

#include "schedule/step.hpp"

namespace tutti {

// Whether `next` can be joined to `step`; then `step` becomes both.
bool fuse_into(Step& step, const Step& next);

// The steps of a lane, neighbours fused as far as they go.
[[nodiscard]] std::vector<Step> fuse(std::vector<Step> steps);

}  // namespace tutti
