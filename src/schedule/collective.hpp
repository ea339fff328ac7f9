// What can be asked for, as far as schedules care: a collective, the ranks, and how its buffers are divided.
// Types and bytes are not here: a schedule is independent of them. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "schedule/step.hpp"

namespace tutti {

// At most 16: a call's description has 4 bits for them (runtime/call.hpp).
enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  scan,            // rank r has the fold of ranks 0 to r
  exclusive_scan,  // of ranks 0 to r-1; rank 0's output is left alone
  barrier,
  // The same with blocks of different sizes: block b is rank b's, and of an all-to-all each pair has a size of its own.
  all_gather_v,
  reduce_scatter_v,
  all_to_all_v,
  gather_v,
  scatter_v,
};
inline constexpr int kNumCollectives = 16;

// What sets the collectives apart, as data.
struct CollectiveFacts {
  std::string_view name;
  bool has_root = false;
  bool folds = false;         // contributions are reduced, so there is an operator
  bool many_inputs = false;   // the input has a block for each rank; else one
  bool many_outputs = false;  // the same of the output
  bool varies = false;        // blocks differ in size
};

[[nodiscard]] const CollectiveFacts& facts_of(Collective collective);
[[nodiscard]] inline std::string_view name_of(Collective collective) { return facts_of(collective).name; }
// Hyphens and underscores are alike. Nothing where none is called so.
[[nodiscard]] std::optional<Collective> find_collective(std::string_view name);

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
