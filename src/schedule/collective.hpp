// SPDX-License-Identifier: Apache-2.0
// What can be asked for, as far as schedules care: a collective (data/collective.hpp), the ranks, and how its buffers
// are divided.
// Types and bytes are not here: a schedule is independent of them. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "data/collective.hpp"
#include "schedule/step.hpp"

namespace tutti {

// How the contributions to a result may be bracketed and ordered; see docs/design/schedule.md. A later class allows
// more; an algorithm promises the strictest that it keeps.
enum class OrderClass : std::uint8_t {
  ordered,     // the left fold in rank order
  rank_order,  // any brackets, in rank order: what a non-commutative operator needs
  uniform,     // any order, but the same on every rank: the same bits everywhere
  free,        // any order on each rank
};

[[nodiscard]] std::string_view name_of(OrderClass order);

// Blocks of a space and the pieces that each is cut into.
struct Division {
  std::uint32_t blocks = 0;
  std::uint32_t pieces = 1;
  friend bool operator==(const Division&, const Division&) = default;
};
using Spaces = std::array<Division, kNumSpaces>;

// The division of a collective's buffers, each block cut into `pieces`, with `scratch` blocks of scratch.
[[nodiscard]] Spaces spaces_of(Collective collective, std::uint32_t num_ranks, std::uint32_t pieces = 1,
                               std::uint32_t scratch = 0);

}  // namespace tutti
