// SPDX-License-Identifier: Apache-2.0
// Costs of the broadcasts against their closed forms.
#include <gtest/gtest.h>

#include "closed_forms.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti::closed_forms {
namespace {

Cost broadcast(std::string_view name, const Asked& asked) { return cost(Collective::broadcast, name, asked); }

TEST(BroadcastCost, DirectIsOneReadOfTheRootsBlock) {
  for_each_asked({2}, [](const Asked& asked) {
    const Cost direct = broadcast("direct", asked);
    EXPECT_EQ(direct.total.messages, 0U);
    EXPECT_EQ(direct.total.pieces_pulled, asked.ranks - 1);
    EXPECT_EQ(direct.ranks[asked.root].pieces_pulled, 0U);
    EXPECT_EQ(direct.most.steps, asked.ranks > 1 ? 3U : 1U);
    EXPECT_EQ(direct.longest_path, asked.ranks > 1 ? 1U : 0U);
  });
}

// The root keeps its block, and in place does not scale it, until everybody has read it.
TEST(BroadcastExposure, DirectIsRightByName) {
  for_each_asked({2}, [](const Asked& asked) {
    if (asked.ranks == 1) return;
    const Proof proof = prove(schedule_of(Collective::broadcast, "direct", asked));
    EXPECT_EQ(proof.out_of_place.exposure, Exposure::name_safe);
    EXPECT_EQ(proof.in_place.exposure, Exposure::name_safe);
  });
}

TEST(BroadcastCost, PushPullHasTheRootCopyAsMuchAsEachOther) {
  for_each_asked({2}, [](const Asked& asked) {
    const std::uint32_t n = asked.ranks;
    const Cost both = broadcast("push_pull", asked);
    EXPECT_EQ(both.num_pieces, n);
    EXPECT_EQ(both.total.messages, 0U);
    EXPECT_EQ(both.ranks[asked.root].pieces_pulled, 0U);
    EXPECT_EQ(both.ranks[asked.root].pieces_pushed, n - 1);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      if (rank == asked.root) continue;
      EXPECT_EQ(both.ranks[rank].pieces_pulled, n - 1);
      EXPECT_EQ(both.ranks[rank].pieces_pushed, 0U);
    }
    EXPECT_EQ(both.longest_path, n > 1 ? 2U : 0U);
  });
}

TEST(BroadcastExposure, PushPullIsRightByName) {
  for_each_asked({2}, [](const Asked& asked) {
    if (asked.ranks == 1) return;
    const Proof proof = prove(schedule_of(Collective::broadcast, "push_pull", asked));
    EXPECT_EQ(proof.out_of_place.exposure, Exposure::name_safe);
    EXPECT_EQ(proof.in_place.exposure, Exposure::name_safe);
  });
}

TEST(BroadcastCost, KnomialHasALevelForEachDigit) {
  for_each_asked({2, 3, 4, 8, 20}, [](const Asked& asked) {
    SCOPED_TRACE(testing::Message() << asked.ranks << " ranks, root " << asked.root << ", radix " << asked.radix);
    const Cost knomial = broadcast("knomial", asked);
    EXPECT_EQ(knomial.total.messages, asked.ranks - 1);
    EXPECT_EQ(knomial.total.pieces_sent, asked.ranks - 1);
    for (std::uint32_t rank = 0; rank < asked.ranks; ++rank) {
      EXPECT_EQ(knomial.ranks[rank].pieces_received, rank == asked.root ? 0U : 1U);
      EXPECT_EQ(knomial.ranks[rank].steps, 1U);
    }
    EXPECT_EQ(knomial.ranks[asked.root].messages, num_partners_of_root(asked.ranks, asked.radix));
    EXPECT_EQ(knomial.most.messages, num_partners_of_root(asked.ranks, asked.radix));
    EXPECT_EQ(knomial.longest_path, greatest_depth(asked.ranks, asked.radix));
    EXPECT_LE(knomial.longest_path, num_levels(asked.ranks, asked.radix));
  });
}

TEST(BroadcastCost, ChainSendsOnceAndIsAsLongAsThereAreRanks) {
  for_each_asked({2}, [](const Asked& asked) {
    const Cost chain = broadcast("chain", asked);
    EXPECT_EQ(chain.num_pieces, 1U);
    EXPECT_EQ(chain.total.messages, asked.ranks - 1);
    EXPECT_LE(chain.most.messages, 1U);
    EXPECT_EQ(chain.most.steps, 1U);
    EXPECT_EQ(chain.longest_path, asked.ranks - 1);
  });
}

TEST(BroadcastCost, ScatterAllGatherBringsEachRankEachPieceOnce) {
  for_each_asked({2}, [](const Asked& asked) {
    const std::uint32_t n = asked.ranks;
    const Cost both = broadcast("scatter_all_gather", asked);
    EXPECT_EQ(both.num_pieces, n);
    for (std::uint32_t rank = 0; rank < n; ++rank)
      EXPECT_EQ(both.ranks[rank].pieces_received, rank == asked.root ? 0U : n);
    // The tree sends a message to each rank, which brings the pieces of its subtree; the ring each other piece alone.
    EXPECT_EQ(both.total.messages, (n - 1) + n * (n - 1) - sum_of_depths(n, 2));
    // Nearly twice the block: all but one piece down the tree, and all but one to the right.
    EXPECT_EQ(both.ranks[asked.root].pieces_sent, 2 * (n - 1));
    EXPECT_LE(both.most.pieces_sent, 2 * n);
    EXPECT_EQ(both.longest_path, n - 1);
  });
}

}  // namespace
}  // namespace tutti::closed_forms
