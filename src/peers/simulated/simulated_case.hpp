// SPDX-License-Identifier: Apache-2.0
// What a row of a sweep asks of a simulated fabric, by the axes of the collectives' benches. Values; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "bench/results/result.hpp"
#include "schedule/collective.hpp"

namespace tutti::simulated {

struct SimulatedCase {
  Collective collective = Collective::all_reduce;
  std::uint64_t element_size = 1;
  std::uint64_t count = 0;          // elements of a block
  std::uint64_t message_bytes = 0;  // of all blocks, as nccl-tests counts
  std::uint32_t root = 0;
  bool in_place = false;
};

// What a fabric cannot do, for which a row is skipped.
[[nodiscard]] Status not_here(std::string words);

[[nodiscard]] Result<SimulatedCase> asked_in(const harness::Row& row);

// The row's message and counters, as a peer with processes has them.
void tell_sizes(const SimulatedCase& asked, harness::Row& row);

}  // namespace tutti::simulated
