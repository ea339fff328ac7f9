// SPDX-License-Identifier: Apache-2.0
// Every algorithm, as rows of one table (registry_rows.inc). Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "algorithms/algorithm.hpp"

// The rows: each is defined beside its steps.
#define TUTTI_ALGORITHM(collective, name) \
  namespace tutti::collective {           \
  extern const Algorithm name;            \
  }
#include "algorithms/registry_rows.inc"
#undef TUTTI_ALGORITHM

namespace tutti {

[[nodiscard]] std::span<const Algorithm* const> all_algorithms();
// Those of one collective, in the order of the table.
[[nodiscard]] std::span<const Algorithm* const> algorithms_of(Collective collective);

// Null where there is none of that name for the collective. Hyphens and underscores are alike.
[[nodiscard]] const Algorithm* find_algorithm(Collective collective, std::string_view name);

// The algorithm's place among those of its collective.
[[nodiscard]] std::uint32_t number_of(const Algorithm& algorithm);

}  // namespace tutti
