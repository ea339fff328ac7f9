// SPDX-License-Identifier: Apache-2.0
// The collectives, and what sets them apart, as data. Plain values; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
inline constexpr int kNumRegular = 11;  // those before the first _v, which are what other libraries are measured with

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

}  // namespace tutti
