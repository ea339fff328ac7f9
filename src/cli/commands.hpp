// SPDX-License-Identifier: Apache-2.0
// All commands of the program, one declaration each; the file NAME.cpp defines NAME_command().
#pragma once

#include "cli/command.hpp"

namespace tutti::cli {

[[nodiscard]] Command algorithms_command();
[[nodiscard]] Command demo_command();
[[nodiscard]] Command fabric_command();
[[nodiscard]] Command gemm_command();
[[nodiscard]] Command launch_command();
[[nodiscard]] Command probe_command();
[[nodiscard]] Command prove_command();
[[nodiscard]] Command record_command();
[[nodiscard]] Command schedule_command();
[[nodiscard]] Command simulate_command();
[[nodiscard]] Command variables_command();

}  // namespace tutti::cli
