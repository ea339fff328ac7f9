// SPDX-License-Identifier: Apache-2.0
// Swing: in step s each rank exchanges with one at distance 1, 1, 3, 5, 11, 21 …, swinging from side to side, so that
// on a ring or torus the peers of the large early steps are near.
//
// D. De Sensi, T. Bonato, D. Saam, T. Hoefler, Swing: short-cutting rings for higher bandwidth allreduce, NSDI 2024.
// Even ranks go right where odd ones go left, so peers are each other's, for any even number of ranks.
//
// Values and pure functions; immutable, thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::patterns {

// ceil(log2 N).
[[nodiscard]] std::uint32_t swing_steps(std::uint32_t num_ranks);
// The rank that `rank` exchanges with in step `step`. The number of ranks is even.
[[nodiscard]] std::uint32_t swing_peer(std::uint32_t rank, std::uint32_t step, std::uint32_t num_ranks);

// For a power of two: whether the rank keeps the upper half of what it has left in step `step` of the reduce-scatter,
// when blocks stand in SwingBlocks' order. All that a rank exchanges in a step is then one run of blocks.
[[nodiscard]] bool swing_keeps_upper(std::uint32_t rank, std::uint32_t step, std::uint32_t num_ranks);

// A run of blocks that travel together, by their places in the order below.
struct BlockRun {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  // Reduce-scatter: whether the giver, and the taker, has folded something into them before.
  bool giver_folded = false;
  bool taker_folded = false;
  friend bool operator==(const BlockRun&, const BlockRun&) = default;
};

// Which blocks travel when, for any even number of ranks. Playing the steps backwards, block after block is spread from
// its owner: whoever has it gives it to his peer of the step, unless that one has it already (which happens only where
// the number of ranks is no power of two). That is the all-gather, and every rank gets each block exactly once; the
// reduce-scatter is the same the other way round. The table is O(N), one for all ranks.
class SwingBlocks {
 public:
  explicit SwingBlocks(std::uint32_t num_ranks);

  [[nodiscard]] std::uint32_t num_steps() const { return num_steps_; }
  // The step in which the rank passes its part of the block on, and gets the finished block; num_steps for the owner.
  [[nodiscard]] std::uint32_t step_of(std::uint32_t owner, std::uint32_t rank) const;
  // Blocks stand in an order in which those that travel together stand together as far as possible: always for a power
  // of two, mostly otherwise.
  [[nodiscard]] std::uint32_t owner_at(std::uint32_t place) const { return owners_[place]; }

  // The blocks that the rank passes on to its peer of the step in the reduce-scatter. Those of a run are alike in what
  // has been folded into them.
  [[nodiscard]] std::vector<BlockRun> reduced(std::uint32_t rank, std::uint32_t step) const;
  // The blocks that the rank gets from its peer of the step in the all-gather: the same ones, in as few runs as it
  // goes.
  [[nodiscard]] std::vector<BlockRun> gathered(std::uint32_t rank, std::uint32_t step) const;

 private:
  [[nodiscard]] bool has_folded(std::uint32_t owner, std::uint32_t rank, std::uint32_t before_step) const;

  std::uint32_t num_ranks_;
  std::uint32_t num_steps_;
  std::vector<std::uint32_t> steps_;   // step_of(0, rank), by rank: all others are its shifts and mirror images
  std::vector<std::uint32_t> owners_;  // by place
};

}  // namespace tutti::patterns
