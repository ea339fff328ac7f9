// SPDX-License-Identifier: Apache-2.0
// The world of the program `tutti`: the collectives, and every peer whose worker is there.
#pragma once

#include "base/variables/environment.hpp"
#include "cli/bench/bench_world.hpp"

namespace tutti::cli {

// The environment is that of the peers; it must live as long as the world.
[[nodiscard]] BenchWorld peer_world(const Environment& environment);

}  // namespace tutti::cli
