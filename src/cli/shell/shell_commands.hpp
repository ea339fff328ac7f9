// SPDX-License-Identifier: Apache-2.0
// The commands that describe all others to shells and manuals. The commands and the world must live as long as they do.
#pragma once

#include <span>

#include "cli/bench/bench_world.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

[[nodiscard]] Command completion_command(std::span<const Command> commands, const BenchWorld& world);
[[nodiscard]] Command man_command(std::span<const Command> commands);

}  // namespace tutti::cli
