// The world of the program `tutti`: the collectives, and every peer whose worker is there.
#pragma once

#include "cli/bench_world.hpp"

namespace tutti::cli {

[[nodiscard]] BenchWorld peer_world();

}  // namespace tutti::cli
