// SPDX-License-Identifier: Apache-2.0
// `-a [PEER:]algorithm=WORDS`: the axis whose values are what each peer calls its algorithms. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/axes/case.hpp"
#include "cli/bench/bench_world.hpp"

namespace tutti::cli {

struct AlgorithmWords {
  std::string peer;  // whom they are for; empty: all for whom there are no others
  std::vector<std::string> words;
};

// Whether the axis is one of peers' algorithms: the world knows some, and the bench has no axis of that name itself.
[[nodiscard]] bool is_algorithm_axis(std::string_view name, const harness::Sweep& sweep, const BenchWorld& world);

// Gives each peer of the sweep its algorithms; of one peer's words the last count. Words that no peer knows are an
// error, and so is a peer that knows none of its words.
[[nodiscard]] Status set_algorithms(const std::vector<AlgorithmWords>& asked, const BenchWorld& world,
                                    harness::Sweep& sweep);

}  // namespace tutti::cli
