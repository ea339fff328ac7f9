// SPDX-License-Identifier: Apache-2.0
// Schedules that users have as files: in Tutti's text form, or MSCCL's XML programs, told apart by their first
// character.
#pragma once

#include <string>

#include "base/status.hpp"
#include "schedule/schedule.hpp"

namespace tutti::cli {

// An error names the file, the line, what was found and what was expected.
[[nodiscard]] Result<Schedule> read_schedule_file(const std::string& path);

}  // namespace tutti::cli
