// SPDX-License-Identifier: Apache-2.0
// The commands about tables: making them, and what becomes of them. The world must live as long as they do.
#pragma once

#include "cli/bench/bench_world.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

[[nodiscard]] Command export_command(const BenchWorld& world);
[[nodiscard]] Command regret_command();
[[nodiscard]] Command tune_command(const BenchWorld& world);

}  // namespace tutti::cli
