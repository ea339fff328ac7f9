// SPDX-License-Identifier: Apache-2.0
// The command that serves pages. The world must outlive it.
#pragma once

#include "cli/bench/bench_world.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

[[nodiscard]] Command web_command(const BenchWorld& world);

}  // namespace tutti::cli
