// SPDX-License-Identifier: Apache-2.0
// A schedule as a picture of space and time. Pure; thread-safe.
#pragma once

#include <string>

#include "schedule/programs.hpp"

namespace tutti::report {

// An SVG: a row a rank, a band a lane, time to the right, a box a step, an arrow for what goes from rank to rank.
[[nodiscard]] std::string schedule_to_svg(const Programs& programs);

}  // namespace tutti::report
