// SPDX-License-Identifier: Apache-2.0
// MSCCL's XML programs as schedules. docs/formats/msccl.md says what is read, and how its words become Tutti's: thread
// blocks are lanes, chunks are pieces, nops hand their dependencies to the next step that does something.
//
// Pure functions; thread-safe.
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// The program in `text`, which is as right or wrong as it was: prove() tells. The file's name only serves the messages,
// "FILE:LINE: found X, expected Y". What cannot be a schedule is an error with its reason: Code::invalid_argument; and
// Code::unsupported where Tutti was built without the XML parser.
[[nodiscard]] Result<Schedule> read_msccl(std::string_view text, std::string_view file_name);

// Whether Tutti was built with the XML parser.
[[nodiscard]] bool reads_msccl();

}  // namespace tutti
