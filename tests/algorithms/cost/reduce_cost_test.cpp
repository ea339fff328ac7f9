// SPDX-License-Identifier: Apache-2.0
// Costs of the reduces against their closed forms, and the order that they keep.
#include <gtest/gtest.h>

#include "closed_forms.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti::closed_forms {
namespace {

Cost reduce(std::string_view name, const Asked& asked) { return cost(Collective::reduce, name, asked); }

TEST(ReduceCost, DirectReadsEverybodyInOneStep) {
  for_each_asked({2}, [](const Asked& asked) {
    const Cost direct = reduce("direct", asked);
    EXPECT_EQ(direct.total.messages, 0U);
    EXPECT_EQ(direct.total.pieces_pulled, asked.ranks - 1);
    EXPECT_EQ(direct.ranks[asked.root].pieces_pulled, asked.ranks - 1);
    EXPECT_EQ(direct.ranks[asked.root].steps, 1U);
    EXPECT_EQ(direct.longest_path, asked.ranks > 1 ? 1U : 0U);
    EXPECT_EQ(direct.roundings, asked.ranks > 1 ? 1U : 0U);
  });
}

TEST(ReduceCost, PushPullHasEachFoldAPiece) {
  for_each_asked({2}, [](const Asked& asked) {
    const std::uint32_t n = asked.ranks;
    const std::uint32_t of_root = n == 2 ? 2 : 1;
    const Cost both = reduce("push_pull", asked);
    EXPECT_EQ(both.num_pieces, of_root + n - 1);
    EXPECT_EQ(both.total.messages, 0U);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      const bool is_root = rank == asked.root;
      EXPECT_EQ(both.ranks[rank].pieces_pulled, (is_root ? of_root : 1) * (n - 1));
      EXPECT_EQ(both.ranks[rank].pieces_pushed, is_root ? 0U : 1U);
    }
    EXPECT_EQ(both.longest_path, n > 1 ? 2U : 0U);
    EXPECT_EQ(both.roundings, n > 1 ? 1U : 0U);
  });
}

TEST(ReduceCost, KnomialFoldsALevelInOneStep) {
  for_each_asked({2, 3, 4, 8, 20}, [](const Asked& asked) {
    SCOPED_TRACE(testing::Message() << asked.ranks << " ranks, root " << asked.root << ", radix " << asked.radix);
    const Cost knomial = reduce("knomial", asked);
    const std::uint32_t levels = num_levels(asked.ranks, asked.radix);
    EXPECT_EQ(knomial.total.messages, asked.ranks - 1);
    for (std::uint32_t rank = 0; rank < asked.ranks; ++rank)
      EXPECT_EQ(knomial.ranks[rank].messages, rank == asked.root ? 0U : 1U);
    EXPECT_EQ(knomial.ranks[asked.root].pieces_received, num_partners_of_root(asked.ranks, asked.radix));
    EXPECT_EQ(knomial.most.steps, std::max(levels, 1U));
    EXPECT_EQ(knomial.roundings, levels);
    EXPECT_EQ(knomial.longest_path, greatest_depth(asked.ranks, asked.radix));
  });
}

TEST(ReduceCost, ChainSendsOnceAndRoundsAtEachRank) {
  for_each_asked({2}, [](const Asked& asked) {
    const Schedule schedule = schedule_of(Collective::reduce, "chain", asked);
    const Cost chain = cost_of(schedule);
    EXPECT_EQ(schedule.division(Space::scratch).blocks, 0U);
    EXPECT_EQ(chain.total.messages, asked.ranks - 1);
    EXPECT_LE(chain.most.messages, 1U);
    EXPECT_LE(chain.most.pieces_received, 1U);
    EXPECT_EQ(chain.most.steps, 1U);
    EXPECT_EQ(chain.longest_path, asked.ranks - 1);
    EXPECT_EQ(chain.roundings, asked.ranks - 1);
  });
}

// Nobody's caller has its input back before the root has read it.
TEST(ReduceExposure, DirectAndPushPullAreRightByName) {
  for_each_asked({2}, [](const Asked& asked) {
    if (asked.ranks == 1) return;
    for (const char* const name : {"direct", "push_pull"}) {
      const Proof proof = prove(schedule_of(Collective::reduce, name, asked));
      EXPECT_EQ(proof.out_of_place.exposure, Exposure::name_safe) << name;
      EXPECT_EQ(proof.in_place.exposure, Exposure::name_safe) << name;
    }
  });
}

TEST(ReduceOrder, TreesAndChainsKeepRankOrderForRankZeroAsRoot) {
  for (const std::string_view name : {"chain", "knomial"}) {
    const Proof at_zero = prove(schedule_of(Collective::reduce, name, {.ranks = 7, .root = 0, .radix = 3}));
    EXPECT_TRUE(at_zero.ok());
    EXPECT_EQ(at_zero.order, OrderClass::rank_order) << name;
    const Proof elsewhere = prove(schedule_of(Collective::reduce, name, {.ranks = 7, .root = 2, .radix = 3}));
    EXPECT_TRUE(elsewhere.ok());
    EXPECT_EQ(elsewhere.order, OrderClass::uniform) << name;
  }
}

}  // namespace
}  // namespace tutti::closed_forms
