// SPDX-License-Identifier: Apache-2.0
// Schedules that users have as files: in Tutti's text form, or MSCCL's XML programs; and traces in GOAL. They are told
// apart by how they begin.
#pragma once

#include <string>
#include <variant>

#include "base/status.hpp"
#include "schedule/schedule.hpp"
#include "simulate/trace/trace.hpp"

namespace tutti::cli {

// An error names the file, the line, what was found and what was expected.
[[nodiscard]] Result<std::variant<Schedule, simulate::Trace>> read_schedule_or_trace(const std::string& path);
// The same where only a schedule will do.
[[nodiscard]] Result<Schedule> read_schedule_file(const std::string& path);

}  // namespace tutti::cli
