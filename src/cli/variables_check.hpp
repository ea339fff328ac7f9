// SPDX-License-Identifier: Apache-2.0
// Checks the variables that a command was called with, or will set for others: an unknown name is a warning, a value
// that is not allowed is an error. Main thread only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "bench/axes/environment_axis.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

// Those of Tutti in the environment and in tutti.conf: says on context.error what is wrong. Done: the command may
// begin.
[[nodiscard]] Exit check_own_variables(const Context& context);

// Those without Tutti's prefix, which only benches read.
[[nodiscard]] Status check_bench_variables(const Environment& environment);

// One that an option sets for processes to be started, or unsets. Warnings are appended, each once.
[[nodiscard]] Status check_given_variable(std::string_view option, std::string_view name,
                                          const std::optional<std::string>& value, std::vector<std::string>& warnings);

// The same of all values of a sweep.
[[nodiscard]] Status check_swept_variables(const std::vector<harness::EnvironmentAxis>& axes,
                                           std::vector<std::string>& warnings);

}  // namespace tutti::cli
