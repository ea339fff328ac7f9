// SPDX-License-Identifier: Apache-2.0
// Costs of the scans against their closed forms, and the order that they keep.
#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "schedule/cost.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti {
namespace {

constexpr Collective kBoth[] = {Collective::scan, Collective::exclusive_scan};

Schedule schedule_of(Collective collective, std::string_view name, std::uint32_t n) {
  return find_algorithm(collective, name)->make({.collective = collective, .num_ranks = n});
}

TEST(ScanCost, LinearSendsOnceToTheNextAndIsTheLeftFold) {
  for (const Collective collective : kBoth) {
    for (std::uint32_t n = 1; n <= 17; ++n) {
      const Schedule schedule = schedule_of(collective, "linear", n);
      const Cost cost = cost_of(schedule);
      for (std::uint32_t rank = 0; rank < n; ++rank) {
        EXPECT_EQ(cost.ranks[rank].messages, rank + 1 < n ? 1U : 0U);
        EXPECT_EQ(cost.ranks[rank].pieces_received, rank > 0 ? 1U : 0U);
      }
      EXPECT_EQ(cost.longest_path, n - 1);
      EXPECT_EQ(cost.roundings, collective == Collective::scan ? n - 1 : std::max(n, 2U) - 2);
      EXPECT_EQ(prove(schedule).order, cost.roundings <= 1 ? OrderClass::ordered : OrderClass::rank_order);
    }
  }
}

TEST(ScanCost, RecursiveDoublingHearsOfTwiceAsManyRanksInEachStep) {
  for (const Collective collective : kBoth) {
    for (std::uint32_t n = 1; n <= 33; ++n) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " of " << n << " ranks");
      const Schedule schedule = schedule_of(collective, "recursive_doubling", n);
      const Cost cost = cost_of(schedule);
      const auto digits = static_cast<std::uint32_t>(std::bit_width(n - 1));
      for (std::uint32_t rank = 0; rank < n; ++rank) {
        EXPECT_EQ(cost.ranks[rank].pieces_received, std::bit_width(rank));
        EXPECT_EQ(cost.ranks[rank].messages, std::bit_width(n - 1 - rank));
      }
      // One less than steps where N is no power of two: who folds in the last step hears from one who has waited less.
      EXPECT_EQ(cost.longest_path, std::bit_width(n) - 1);
      // The exclusive scan rounds twice a step, when it folds its own part behind what it sends as well; not in the
      // first, and not behind what nobody waits for.
      const std::uint32_t twice = digits == 0 ? 0 : 2 * digits - (std::has_single_bit(n) ? 2 : 3);
      EXPECT_EQ(cost.roundings, collective == Collective::scan ? digits : twice);
      EXPECT_LE(prove(schedule).order, OrderClass::rank_order);
    }
  }
}

}  // namespace
}  // namespace tutti
