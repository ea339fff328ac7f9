// SPDX-License-Identifier: Apache-2.0
// Costs of the gathers and scatters, which mirror each other, against their closed forms.
#include <gtest/gtest.h>

#include "closed_forms.hpp"

namespace tutti::closed_forms {
namespace {

// The blocks that a rank receives in a scatter are those that it sends in a gather, and the other way round.
std::uint64_t towards_root(Collective collective, const RankCost& rank) {
  return collective == Collective::scatter || collective == Collective::scatter_v ? rank.pieces_received
                                                                                  : rank.pieces_sent;
}
std::uint64_t from_root(Collective collective, const RankCost& rank) {
  return collective == Collective::scatter || collective == Collective::scatter_v ? rank.pieces_sent
                                                                                  : rank.pieces_received;
}

TEST(GatherAndScatterCost, LinearMovesTheLeastThereCanBe) {
  for (const Collective collective :
       {Collective::gather, Collective::scatter, Collective::gather_v, Collective::scatter_v}) {
    for_each_asked({2}, [&](const Asked& asked) {
      const Cost linear = cost(collective, "linear", asked);
      EXPECT_EQ(linear.total.messages, asked.ranks - 1);
      EXPECT_EQ(from_root(collective, linear.ranks[asked.root]), asked.ranks - 1);
      EXPECT_EQ(towards_root(collective, linear.ranks[asked.root]), 0U);
      EXPECT_EQ(towards_root(collective, linear.most), asked.ranks > 1 ? 1U : 0U);
      EXPECT_EQ(linear.most.steps, asked.ranks);
      EXPECT_EQ(linear.longest_path, asked.ranks > 1 ? 1U : 0U);
    });
  }
}

TEST(GatherAndScatterCost, KnomialSendsEachBlockOnceALevel) {
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    for_each_asked({2, 3, 4, 8, 20}, [&](const Asked& asked) {
      SCOPED_TRACE(testing::Message() << asked.ranks << " ranks, root " << asked.root << ", radix " << asked.radix);
      const Schedule schedule = schedule_of(collective, "knomial", asked);
      const Cost knomial = cost_of(schedule);
      EXPECT_EQ(knomial.total.messages, asked.ranks - 1);
      EXPECT_EQ(knomial.total.pieces_sent, sum_of_depths(asked.ranks, asked.radix));
      EXPECT_EQ(from_root(collective, knomial.ranks[asked.root]), asked.ranks - 1);
      // Every message of the root's is a step, and its own block's copy.
      const std::uint32_t partners = num_partners_of_root(asked.ranks, asked.radix);
      EXPECT_EQ(knomial.ranks[asked.root].steps, partners + 1);
      for (std::uint32_t rank = 0; rank < asked.ranks; ++rank) {
        if (rank == asked.root) continue;
        // Its own block stays, or comes from nobody.
        const RankCost& of_rank = knomial.ranks[rank];
        EXPECT_EQ(towards_root(collective, of_rank), from_root(collective, of_rank) + 1);
      }
      EXPECT_EQ(knomial.longest_path, greatest_depth(asked.ranks, asked.radix));
      // Blocks of the largest subtree below the root, which is one level lower: none where that is a leaf.
      EXPECT_LE(schedule.division(Space::scratch).blocks, asked.ranks / 2);
    });
  }
}

TEST(GatherAndScatterCost, BinomialOfAPowerOfTwo) {
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    const Cost knomial = cost(collective, "knomial", {.ranks = 16});
    EXPECT_EQ(knomial.total.messages, 15U);
    EXPECT_EQ(knomial.total.pieces_sent, 16 / 2 * 4U);
    EXPECT_EQ(towards_root(collective, knomial.most), 8U);
    EXPECT_EQ(knomial.longest_path, 4U);
  }
}

}  // namespace
}  // namespace tutti::closed_forms
