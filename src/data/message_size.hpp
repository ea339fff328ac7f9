// SPDX-License-Identifier: Apache-2.0
// What a size in bytes, as nccl-tests means it, is in elements: of all blocks together where a rank's larger buffer has
// one for each rank, of an all-to-all those of one rank. What is left over is not moved. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "data/collective.hpp"

namespace tutti {

// How many blocks share the bytes.
[[nodiscard]] inline std::uint32_t num_blocks(Collective collective, std::uint32_t num_ranks) {
  const CollectiveFacts& facts = facts_of(collective);
  return facts.many_inputs || facts.many_outputs ? num_ranks : 1;
}

// 0 where they hold no element for each.
[[nodiscard]] inline std::uint64_t elements_of_block(Collective collective, std::uint32_t num_ranks,
                                                     std::uint64_t bytes, std::uint64_t element_size) {
  return bytes / element_size / num_blocks(collective, num_ranks);
}

}  // namespace tutti
