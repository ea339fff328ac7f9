// SPDX-License-Identifier: Apache-2.0
// The program around its commands: reads the command line, finds the command, runs it, and turns every mistake into a
// message that names what was wrong and what would be right. No state; used by the main thread only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace tutti::cli {

// The arguments are without the program's name.
[[nodiscard]] Exit run_program(std::span<const Command> commands, const std::vector<std::string>& arguments,
                               const Context& context);

}  // namespace tutti::cli
