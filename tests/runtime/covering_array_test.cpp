// SPDX-License-Identifier: Apache-2.0
// Covering arrays have every pair that can be, nothing that cannot, and no more rows than it takes or than they cost.
#include "covering_array.hpp"

#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

using Quad = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;

std::set<Quad> pairs_of(const std::vector<CoveringRow>& rows) {
  std::set<Quad> pairs;
  for (const CoveringRow& row : rows)
    for (std::size_t a = 0; a < row.size(); ++a)
      for (std::size_t b = a + 1; b < row.size(); ++b) pairs.insert({a, row[a], b, row[b]});
  return pairs;
}

bool never(Choice, Choice) { return false; }
double one(const CoveringRow&) { return 1; }

TEST(CoveringArray, HasEveryPairInFewRows) {
  const CoveringArray array = covering_array({.levels = {7, 5, 4, 3, 3, 2}, .in_conflict = never, .cost = one});
  EXPECT_TRUE(array.impossible.empty());
  EXPECT_EQ(pairs_of(array.rows).size(), 7U * (5 + 4 + 3 + 3 + 2) + 5 * (4 + 3 + 3 + 2) + 4 * (3 + 3 + 2) + 3 * 5 + 6);
  EXPECT_LE(array.rows.size(), 45U) << "35 are the least";
}

TEST(CoveringArray, IsTheSameForTheSameSeed) {
  CoveringProblem problem{.levels = {5, 4, 3, 3}, .in_conflict = never, .cost = one, .seed = 7};
  const CoveringArray first = covering_array(problem);
  EXPECT_EQ(covering_array(problem).rows, first.rows);
  problem.seed = 8;
  EXPECT_NE(covering_array(problem).rows, first.rows);
}

TEST(CoveringArray, LeavesConflictsOutAndTellsWhatTheyMakeImpossible) {
  // Level 0 of factor 0 bears nothing of factor 1 but 0, level 0 of factor 2 nothing of it but 1: they never meet.
  const auto conflict = [](Choice a, Choice b) {
    const auto is = [&](std::size_t factor, std::size_t only) {
      const Choice& first = a.factor == factor ? a : b;
      const Choice& second = a.factor == factor ? b : a;
      return first.factor == factor && second.factor == 1 && first.level == 0 && second.level != only;
    };
    return is(0, 0) || is(2, 1);
  };
  const CoveringArray array = covering_array({.levels = {3, 3, 3, 3}, .in_conflict = conflict, .cost = one});
  ASSERT_EQ(array.impossible.size(), 1U);
  EXPECT_EQ(array.impossible[0].a.factor, 0U);
  EXPECT_EQ(array.impossible[0].b.factor, 2U);
  const std::set<Quad> pairs = pairs_of(array.rows);
  for (const auto& [a, x, b, y] : pairs) EXPECT_FALSE(conflict({a, x}, {b, y}));
  EXPECT_EQ(pairs.size(), 6U * 9 - 4 - 1);
}

TEST(CoveringArray, HasFewRowsOfWhatIsDear) {
  const auto cost = [](const CoveringRow& row) { return row[0] == 3 ? 1000.0 : 1.0; };
  const CoveringArray array = covering_array({.levels = {4, 6, 6, 2, 2}, .in_conflict = never, .cost = cost});
  const auto dear = std::count_if(array.rows.begin(), array.rows.end(), [](const auto& row) { return row[0] == 3; });
  EXPECT_LE(dear, 7) << "6 are the least";
}

TEST(CoveringArray, HasPairsBesideNothingIdleWhereTheyCanBe) {
  // Level 0 of factor 0 is idle, and level 2 of factor 1 bears nothing else.
  const auto conflict = [](Choice a, Choice b) {
    const Choice& first = a.factor == 0 ? a : b;
    const Choice& second = a.factor == 0 ? b : a;
    return first.factor == 0 && first.level != 0 && second.factor == 1 && second.level == 2;
  };
  const CoveringArray array =
      covering_array({.levels = {3, 3, 3, 3}, .in_conflict = conflict, .cost = one, .is_idle = [](Choice each) {
                        return each.factor == 0 && each.level == 0;
                      }});
  EXPECT_TRUE(array.impossible.empty());
  EXPECT_EQ(pairs_of(array.rows).size(), 6U * 9 - 2);
  std::vector<CoveringRow> at_work = array.rows;
  std::erase_if(at_work, [](const CoveringRow& row) { return row[0] == 0; });
  EXPECT_EQ(pairs_of(at_work).size(), 2U * 2 + 2 * 3 * 2 + 2 * 3 * 2 + 9U);
}

}  // namespace
}  // namespace tutti::test
