// SPDX-License-Identifier: Apache-2.0
// Grids, lines and groups of ranks: against ones written down, and against what makes a tree of chains one.
#include "algorithms/patterns/grid.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/patterns/groups.hpp"

namespace tutti::patterns {
namespace {

// 0 1 2
// 3 4 5
constexpr Grid kThreeByTwo{3, 2};

TEST(Grid, RanksStandRowAfterRow) {
  EXPECT_EQ(position_of(kThreeByTwo, 0), (Position{0, 0}));
  EXPECT_EQ(position_of(kThreeByTwo, 2), (Position{2, 0}));
  EXPECT_EQ(position_of(kThreeByTwo, 3), (Position{0, 1}));
  EXPECT_EQ(rank_at(kThreeByTwo, {2, 1}), 5U);
  for (std::uint32_t rank = 0; rank < 6; ++rank) EXPECT_EQ(rank_at(kThreeByTwo, position_of(kThreeByTwo, rank)), rank);
}

TEST(Grid, CentreIsRowAndColumnHalfWay) {
  EXPECT_EQ(centre_of(kThreeByTwo), (Position{1, 1}));
  EXPECT_EQ(centre_of({5, 3}), (Position{2, 1}));
  EXPECT_EQ(centre_of({4, 1}), (Position{2, 0}));
  EXPECT_EQ(centre_of({1, 1}), (Position{0, 0}));
}

TEST(Grid, CornersAreCountedRowAfterRow) {
  EXPECT_EQ(rank_at(kThreeByTwo, corner_of(kThreeByTwo, 1)), 0U);
  EXPECT_EQ(rank_at(kThreeByTwo, corner_of(kThreeByTwo, 2)), 2U);
  EXPECT_EQ(rank_at(kThreeByTwo, corner_of(kThreeByTwo, 3)), 3U);
  EXPECT_EQ(rank_at(kThreeByTwo, corner_of(kThreeByTwo, 4)), 5U);
}

TEST(Grid, LinesAreSeenByOneOfTheirRanks) {
  const Line row = row_of(kThreeByTwo, 5);
  EXPECT_EQ(row, (Line{.first = 3, .stride = 1, .length = 3, .own = 2}));
  EXPECT_EQ(row.next(), 3U) << "around the end";
  EXPECT_EQ(row.previous(), 4U);
  const Line column = column_of(kThreeByTwo, 2);
  EXPECT_EQ(column, (Line{.first = 2, .stride = 3, .length = 2, .own = 0}));
  EXPECT_EQ(column.at(1), 5U);
  EXPECT_EQ(column.next(), 5U);
  EXPECT_EQ(column.previous(), 5U);
  EXPECT_EQ(row.place_before(1), 1U);
  EXPECT_EQ(row.place_before(3), 2U);
  EXPECT_EQ(column.place_before(1), 1U) << "around the beginning";
}

TEST(Grid, LinesOfAThirdDimensionLeadThroughTheLayers) {
  constexpr Grid kCuboid{3, 2, 4};
  EXPECT_EQ(kCuboid.size(), 24U);
  EXPECT_EQ(row_of(kCuboid, 17), (Line{.first = 15, .stride = 1, .length = 3, .own = 2}));
  EXPECT_EQ(column_of(kCuboid, 17), (Line{.first = 14, .stride = 3, .length = 2, .own = 1}));
  EXPECT_EQ(pillar_of(kCuboid, 17), (Line{.first = 5, .stride = 6, .length = 4, .own = 2}));
  EXPECT_EQ(to_text(kCuboid, 3), "3x2x4");
  EXPECT_EQ(to_text(kThreeByTwo, 2), "3x2");
  EXPECT_EQ(to_text(kThreeByTwo, 3), "3x2x1");
}

TEST(Grid, ChainsLeadAlongTheRowAndThenTheColumn) {
  // To the centre of 3 x 3, which is rank 4.
  const std::array<std::uint32_t, 9> towards = {1, 4, 1, 4, 4, 4, 7, 4, 7};
  for (std::uint32_t rank = 0; rank < 9; ++rank)
    EXPECT_EQ(step_towards({3, 3}, {1, 1}, rank).value_or(4), towards[rank]) << rank;
  EXPECT_EQ(step_towards({3, 3}, {1, 1}, 4), std::nullopt);
  EXPECT_EQ(feeders_of({3, 3}, {1, 1}, 4), (Feeders{.above = 1, .left = 3, .right = 5, .below = 7}));
  EXPECT_EQ(feeders_of({3, 3}, {1, 1}, 1), (Feeders{.left = 0, .right = 2}));
  EXPECT_EQ(feeders_of({3, 3}, {1, 1}, 0), Feeders{});
}

// Appends the ranks of the tree below `rank` in the order in which their contributions would be folded.
void list(const Grid& grid, const Position& target, std::uint32_t rank, std::vector<std::uint32_t>& ranks) {
  const Feeders feeders = feeders_of(grid, target, rank);
  for (const auto& before : {feeders.above, feeders.left})
    if (before) list(grid, target, *before, ranks);
  ranks.push_back(rank);
  for (const auto& behind : {feeders.right, feeders.below})
    if (behind) list(grid, target, *behind, ranks);
}

TEST(Grid, EveryTargetsTreeHoldsAllRanksOnceInTheirOrder) {
  for (std::uint32_t cells = 0; cells < 36; ++cells) {
    const Grid grid{1 + cells % 6, 1 + cells / 6};
    for (std::uint32_t target = 0; target < grid.size(); ++target) {
      SCOPED_TRACE(testing::Message() << grid.width << "x" << grid.height << " to " << target);
      const Position goal = position_of(grid, target);
      std::vector<std::uint32_t> ranks;
      list(grid, goal, target, ranks);
      ASSERT_EQ(ranks.size(), grid.size());
      for (std::uint32_t rank = 0; rank < grid.size(); ++rank) {
        EXPECT_EQ(ranks[rank], rank);
        const Feeders feeders = feeders_of(grid, goal, rank);
        for (const auto& feeder : {feeders.above, feeders.left, feeders.right, feeders.below}) {
          if (!feeder) continue;
          EXPECT_EQ(step_towards(grid, goal, *feeder), rank);
        }
      }
    }
  }
}

TEST(Groups, OfDifferentSizes) {
  const Groups groups({3, 1, 2});
  EXPECT_EQ(groups.num_groups(), 3U);
  EXPECT_EQ(groups.least_size(), 1U);
  const std::array<std::uint32_t, 6> group_of = {0, 0, 0, 1, 2, 2};
  for (std::uint32_t rank = 0; rank < 6; ++rank) EXPECT_EQ(groups.group_of(rank), group_of[rank]) << rank;
  EXPECT_EQ(groups.first(0), 0U);
  EXPECT_EQ(groups.first(2), 4U);
  EXPECT_EQ(groups.size(1), 1U);
  EXPECT_EQ(groups.size(2), 2U);
}

}  // namespace
}  // namespace tutti::patterns
