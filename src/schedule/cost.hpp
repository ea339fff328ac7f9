// SPDX-License-Identifier: Apache-2.0
// What a schedule costs, counted from its own steps: how many, how much is moved, how long the longest chain is, and
// how often a result is rounded on its way. Independent of types and bytes: amounts are pieces of a block. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

struct RankCost {
  std::uint64_t steps = 0;        // neighbours fused
  std::uint64_t messages = 0;     // sent
  std::uint64_t pieces_sent = 0;  // by message
  std::uint64_t pieces_received = 0;
  std::uint64_t pieces_pulled = 0;  // read from other ranks directly; what a switch has folded counts once
  std::uint64_t pieces_pushed = 0;  // written to other ranks directly; what a switch copies counts once

  // Everything that comes from, and everything that goes to, other ranks by this rank's steps.
  [[nodiscard]] std::uint64_t pieces_in() const { return pieces_received + pieces_pulled; }
  [[nodiscard]] std::uint64_t pieces_out() const { return pieces_sent + pieces_pushed; }
};

struct Cost {
  std::vector<RankCost> ranks;
  RankCost total;
  RankCost most;                 // of one rank, each count for itself
  std::uint32_t num_pieces = 1;  // that a block is cut into: pieces / num_pieces is the part of a block
  std::uint32_t longest_path =
      0;                        // handings-over from rank to rank (messages, and posts waited for), one after another
  std::uint32_t roundings = 0;  // on the deepest path from an input to a result: a step that folds rounds once
};

// The schedule is one that prove() has passed.
[[nodiscard]] Cost cost_of(const Schedule& schedule);

}  // namespace tutti
