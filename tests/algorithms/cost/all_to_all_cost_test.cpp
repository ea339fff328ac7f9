// SPDX-License-Identifier: Apache-2.0
// Costs of the all-to-alls against their closed forms.
#include <set>

#include <gtest/gtest.h>

#include "closed_forms.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti::closed_forms {
namespace {

constexpr Collective kBoth[] = {Collective::all_to_all, Collective::all_to_all_v};

TEST(AllToAllCost, DirectReadsEachBlockOnce) {
  for (const Collective collective : kBoth) {
    for (std::uint32_t n = 1; n <= 17; ++n) {
      const Schedule schedule = schedule_of(collective, "direct", {.ranks = n});
      const Cost direct = cost_of(schedule);
      EXPECT_EQ(direct.total.messages, 0U);
      for (const RankCost& rank : direct.ranks) {
        EXPECT_EQ(rank.pieces_pulled, n - 1);
        EXPECT_EQ(rank.steps, 2 * n);  // exposes and reads of n-1 blocks, the own block, and the end
      }
      EXPECT_EQ(direct.longest_path, n > 1 ? 1U : 0U);
      const Proof proof = prove(schedule);
      EXPECT_EQ(proof.least_slots, n - 1);
      EXPECT_EQ(proof.out_of_place.exposure, n > 1 ? Exposure::name_safe : Exposure::none);
      EXPECT_EQ(proof.in_place.exposure, n > 1 ? Exposure::copy_only : Exposure::none);
    }
  }
}

TEST(AllToAllCost, PairwiseSendsEachBlockOnceAndFourBeforeTheFirstIsReceived) {
  for (const Collective collective : kBoth) {
    for (std::uint32_t n = 1; n <= 17; ++n) {
      const Cost pairwise = cost(collective, "pairwise", {.ranks = n});
      for (const RankCost& rank : pairwise.ranks) {
        EXPECT_EQ(rank.messages, n - 1);
        EXPECT_EQ(rank.pieces_sent, n - 1);
        EXPECT_EQ(rank.pieces_received, n - 1);
        EXPECT_EQ(rank.steps, 2 * (n - 1) + 1);
      }
      EXPECT_EQ(pairwise.longest_path, (n - 1 + 3) / 4) << "one for each four messages";
    }
  }
}

// The ranks that a rank sends to.
std::set<std::uint32_t> partners_of(const Schedule& schedule, std::uint32_t rank) {
  std::set<std::uint32_t> partners;
  for (const auto& lane : collect(schedule, rank, Fusion::none).lanes)
    for (const Step& step : lane)
      for (const Endpoint& end : step.destinations)
        if (end.place == Place::message) partners.insert(end.rank);
  return partners;
}

TEST(AllToAllCost, BruckSendsABlockForEachDigitOfItsWay) {
  for (std::uint32_t n = 1; n <= 17; ++n) {
    for (const std::uint32_t radix : {2U, 3U, 4U, 8U, 20U}) {
      SCOPED_TRACE(testing::Message() << n << " ranks, radix " << radix);
      const Schedule schedule = schedule_of(Collective::all_to_all, "bruck", {.ranks = n, .radix = radix});
      const Cost bruck = cost_of(schedule);
      EXPECT_EQ(schedule.division(Space::scratch).blocks, n - 1) << "a block for each offset but the own";
      for (std::uint32_t rank = 0; rank < n; ++rank) {
        EXPECT_EQ(bruck.ranks[rank].messages, num_partners_of_root(n, radix));
        EXPECT_EQ(bruck.ranks[rank].pieces_sent, sum_of_depths(n, radix));
        EXPECT_EQ(bruck.ranks[rank].pieces_received, sum_of_depths(n, radix));
        EXPECT_EQ(partners_of(schedule, rank).size(), num_partners_of_root(n, radix));
      }
      EXPECT_EQ(bruck.longest_path, num_levels(n, radix)) << "messages of a phase wait for each other";
    }
  }
}

TEST(AllToAllCost, BruckOfAPowerOfTwo) {
  for (std::uint32_t n = 2, phases = 1; n <= 32; n *= 2, ++phases) {
    const Cost bruck = cost(Collective::all_to_all, "bruck", {.ranks = n});
    EXPECT_EQ(bruck.most.messages, phases);
    EXPECT_EQ(bruck.most.pieces_sent, n / 2 * phases);
    // Messages out and in, the blocks that rest in the first phase at once, and the rotation at the end.
    EXPECT_EQ(bruck.most.steps, 2 * phases + (n > 2 ? 1 : 0) + n);
  }
}

}  // namespace
}  // namespace tutti::closed_forms
