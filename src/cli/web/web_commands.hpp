// SPDX-License-Identifier: Apache-2.0
// The command that serves pages, which acts upon a world that must live as long as it does.
#pragma once

#include "cli/bench/bench_world.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

[[nodiscard]] Command web_command(const BenchWorld& world);

}  // namespace tutti::cli
