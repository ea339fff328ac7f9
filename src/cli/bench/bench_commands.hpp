// SPDX-License-Identifier: Apache-2.0
// The commands about benchmarks, which act upon a world that must live as long as they do.
#pragma once

#include "cli/bench/bench_world.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

[[nodiscard]] Command compare_command(const BenchWorld& world);
[[nodiscard]] Command delete_command();
[[nodiscard]] Command import_command();
[[nodiscard]] Command label_command();
[[nodiscard]] Command list_command(const BenchWorld& world);
[[nodiscard]] Command run_command(const BenchWorld& world);
[[nodiscard]] Command show_command(const BenchWorld& world);

}  // namespace tutti::cli
