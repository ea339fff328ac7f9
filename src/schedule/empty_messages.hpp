// SPDX-License-Identifier: Apache-2.0
// Whether messages of nothing are sent: the one answer that the runtime and the simulator share. Pure.
#pragma once

#include "schedule/schedule.hpp"

namespace tutti {

// They are left out, unless one may be all that orders what others do: the lanes of its ranks, callers of a barrier, or
// accesses to another's memory, of which there are some if has_direct_steps() says so. That is asked last.
template <typename HasDirectSteps>
[[nodiscard]] bool sends_empty_messages(const Schedule& schedule, HasDirectSteps has_direct_steps) {
  return schedule.num_lanes > 1 || schedule.collective == Collective::barrier || has_direct_steps();
}

}  // namespace tutti
