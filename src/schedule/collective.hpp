// What can be asked for, as far as schedules care: a collective, the ranks, and how its buffers are divided.
// Types and bytes are not here: a schedule is independent of them. Plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include "schedule/step.hpp"

namespace tutti {

enum class Collective : std::uint8_t { all_reduce };

[[nodiscard]] std::string_view name_of(Collective collective);

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
};

}  // namespace tutti
