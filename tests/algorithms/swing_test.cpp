// SPDX-License-Identifier: Apache-2.0
// Swing's peers as in the paper's figures, and which blocks travel when.
#include "algorithms/patterns/swing.hpp"

#include <bit>

#include <gtest/gtest.h>

namespace tutti::patterns {
namespace {

TEST(Swing, PeersSwingFromSideToSide) {
  // Of 16 ranks: distances 1, -1, 3, -5 for even ranks, and the other way for odd ones.
  EXPECT_EQ(swing_steps(16), 4U);
  EXPECT_EQ(swing_peer(0, 0, 16), 1U);
  EXPECT_EQ(swing_peer(0, 1, 16), 15U);
  EXPECT_EQ(swing_peer(0, 2, 16), 3U);
  EXPECT_EQ(swing_peer(0, 3, 16), 11U);
  EXPECT_EQ(swing_peer(11, 3, 16), 0U);
  EXPECT_EQ(swing_peer(4, 2, 6), 1U) << "round the end";
  EXPECT_EQ(swing_steps(6), 3U);
  EXPECT_EQ(swing_steps(2), 1U);
}

TEST(Swing, PeersAreEachOthers) {
  for (std::uint32_t ranks = 2; ranks <= 130; ranks += 2)
    for (std::uint32_t step = 0; step < swing_steps(ranks); ++step)
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t peer = swing_peer(rank, step, ranks);
        EXPECT_NE(peer % 2, rank % 2);
        EXPECT_EQ(swing_peer(peer, step, ranks), rank) << ranks << " ranks, step " << step;
      }
}

// Every rank but the owner passes its part of a block on once, to one that passes it on later.
TEST(Swing, BlocksReachTheirOwnersOnceForAnyEvenNumber) {
  for (std::uint32_t ranks = 2; ranks <= 130; ranks += 2) {
    const SwingBlocks blocks(ranks);
    for (std::uint32_t owner = 0; owner < ranks; ++owner) {
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t step = blocks.step_of(owner, rank);
        if (rank == owner) {
          EXPECT_EQ(step, blocks.num_steps());
          continue;
        }
        ASSERT_LT(step, blocks.num_steps()) << ranks << " ranks: rank " << rank << " never meets block " << owner;
        EXPECT_GT(blocks.step_of(owner, swing_peer(rank, step, ranks)), step);
      }
    }
  }
}

TEST(Swing, RunsHoldTheBlocksOfTheStep) {
  for (const std::uint32_t ranks : {2U, 6U, 8U, 10U, 22U, 30U}) {
    const SwingBlocks blocks(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::vector<int> times(ranks, 0);
      for (std::uint32_t step = 0; step < blocks.num_steps(); ++step) {
        std::uint32_t reduced = 0;
        for (const BlockRun& run : blocks.reduced(rank, step)) {
          reduced += run.count;
          for (std::uint32_t place = run.first; place < run.first + run.count; ++place) {
            ++times[blocks.owner_at(place)];
            EXPECT_EQ(blocks.step_of(blocks.owner_at(place), rank), step);
          }
        }
        std::uint32_t gathered = 0;
        for (const BlockRun& run : blocks.gathered(rank, step)) gathered += run.count;
        EXPECT_EQ(gathered, reduced);
      }
      for (std::uint32_t owner = 0; owner < ranks; ++owner) EXPECT_EQ(times[owner], owner == rank ? 0 : 1);
    }
  }
}

// For powers of two a step's blocks are one run: the half that swing_keeps_upper() says.
TEST(Swing, HalvesOfAPowerOfTwoAreRuns) {
  for (const std::uint32_t ranks : {2U, 4U, 8U, 16U, 64U}) {
    const SwingBlocks blocks(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::uint32_t first = 0;
      std::uint32_t count = ranks;
      for (std::uint32_t step = 0; step < swing_steps(ranks); ++step) {
        count /= 2;
        if (swing_keeps_upper(rank, step, ranks)) first += count;
        const std::vector<BlockRun> runs = blocks.reduced(rank, step);
        ASSERT_EQ(runs.size(), 1U) << ranks << " ranks, rank " << rank << ", step " << step;
        EXPECT_EQ(runs[0], (BlockRun{first ^ count, count, step > 0, step > 0}));
      }
      EXPECT_EQ(blocks.owner_at(first), rank);
    }
  }
}

}  // namespace
}  // namespace tutti::patterns
