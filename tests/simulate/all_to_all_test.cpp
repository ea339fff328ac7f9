// SPDX-License-Identifier: Apache-2.0
// How near all-to-all of large blocks comes to what the links of a fabric can carry.
#include <gtest/gtest.h>

#include "fabric/generators/generate.hpp"
#include "simulate/simulate.hpp"
#include "small_runs.hpp"

namespace tutti::simulate {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{1} << 20U;

// The time of pairwise all-to-all in blocks that cross one link.
double blocks_taken(const char* words) {
  const Result<fabric::Fabric> made = fabric::generate(words);
  EXPECT_TRUE(made.ok()) << words;
  const Answer answer =
      run(schedule_of(Collective::all_to_all, "pairwise", made->num_ranks()), *made, {.count = kBlock});
  EXPECT_TRUE(answer.checked) << words;
  return answer.time * made->links[0].bandwidth / kBlock;
}

// Each rank's own link is never idle and the links between switches are no bottleneck. 1 % is for latencies.
TEST(AllToAll, PairwiseFillsEveryLinkOfAFullFatTree) {
  struct Tree {
    const char* words;
    double num_ranks;
  };
  for (const Tree& tree : {Tree{"fat_tree:4x4", 16}, Tree{"fat_tree:8x8", 64}, Tree{"fat_tree:4x2x4", 32},
                           Tree{"fat_tree:5x3", 15}, Tree{"switch:16", 16}, Tree{"switch:13", 13}})
    EXPECT_LT(blocks_taken(tree.words), 1.01 * (tree.num_ranks - 1)) << tree.words;
}

// The distances to all others add up to a quarter of the square of the length, by both ways.
TEST(AllToAll, PairwiseFillsBothWaysOfARing) {
  EXPECT_LT(blocks_taken("ring_1d:9"), 1.02 * 20 / 2);
  EXPECT_LT(blocks_taken("ring_1d:16"), 1.06 * 64 / 2);
}

}  // namespace
}  // namespace tutti::simulate
