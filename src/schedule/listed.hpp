// SPDX-License-Identifier: Apache-2.0
// Schedules whose steps are listed instead of computed: those read from files, and those that someone has changed.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

// `header` with the lanes of these programs, one program a rank. Every program has header.num_lanes lanes. The steps
// are shared by the schedule's copies and immutable.
[[nodiscard]] Schedule listed(Schedule header, std::vector<Program> programs);

// All programs of a schedule, as written.
[[nodiscard]] std::vector<Program> programs_of(const Schedule& schedule);

}  // namespace tutti
