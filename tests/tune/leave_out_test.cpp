// SPDX-License-Identifier: Apache-2.0
#include "tune/leave_out.hpp"

#include <gtest/gtest.h>

#include "made_up.hpp"

namespace tutti::tune {
namespace {

constexpr MergeOptions kOfSizesAlone{.tolerance = 0, .least_gain = 0, .least_doubtful_gain = 0, .most_regret = 1};

TEST(LeftOutSizes, AreJudgedByTheSizesAround) {
  // At 64 there is a way that no other size would take.
  const std::vector<MachineCell> cells = {
      machine_cell("", 2, 8, {{"tree", 1}, {"ring", 2}}), machine_cell("", 2, 16, {{"tree", 1}, {"ring", 2}}),
      machine_cell("", 2, 32, {{"tree", 1}, {"ring", 2}}), machine_cell("", 2, 64, {{"tree", 3}, {"ring", 2}}),
      machine_cell("", 2, 128, {{"tree", 1}, {"ring", 2}})};
  EXPECT_EQ(folds_of_sizes(cells), (std::vector<std::size_t>{0, 1, 0, 1, 0}));
  const std::vector<Taken> taken = without_sizes(cells, kOfSizesAlone);
  ASSERT_EQ(taken.size(), 5U);
  EXPECT_EQ(taken[1].way->algorithm, "tree");
  EXPECT_EQ(taken[3].way->algorithm, "tree");
  EXPECT_EQ(taken[3].regret, 0.5);
  // Left out with 8 and 32, 128 has only 64 to go by.
  EXPECT_EQ(taken[4].way->algorithm, "ring");
}

TEST(LeftOutSizes, AnOnlySizeHasNoTable) {
  const std::vector<MachineCell> cells = {machine_cell("a", 2, 8, {{"tree", 1}}),
                                          machine_cell("b", 2, 8, {{"tree", 1}}),
                                          machine_cell("b", 2, 16, {{"tree", 1}})};
  const std::vector<Taken> taken = without_sizes(cells, kOfSizesAlone);
  EXPECT_EQ(taken[0].lack, Lack::section);
  EXPECT_EQ(taken[1].lack, Lack::none);
}

TEST(LeftOutRanks, AreAnsweredForByTheNearestNumberOfTheSameMachine) {
  const std::vector<MachineCell> cells = {
      machine_cell("a", 2, 8, {{"tree", 1}, {"ring", 2}}), machine_cell("a", 8, 8, {{"tree", 2}, {"ring", 1}}),
      machine_cell("a", 16, 8, {{"tree", 3}, {"ring", 2}}), machine_cell("b", 2, 8, {{"tree", 2}, {"ring", 1}})};
  const std::vector<Taken> taken = without_ranks(cells, kOfSizesAlone);
  EXPECT_EQ(taken[0].way->algorithm, "ring");
  EXPECT_EQ(taken[0].regret, 1);
  EXPECT_FALSE(taken[0].is_exact);
  EXPECT_EQ(taken[1].way->algorithm, "ring");  // 16's, and not 2's
  EXPECT_EQ(taken[3].lack, Lack::section);
}

TEST(Predictions, ChooseTheWayAndMeasuredTimesJudgeIt) {
  const std::vector<MachineCell> cells = {machine_cell("a", 4, 8, {{"tree", 1}, {"ring", 2}}),
                                          machine_cell("a", 4, 64, {{"tree", 4}, {"ring", 2}}),
                                          machine_cell("a", 6, 8, {{"tree", 1}})};
  const std::vector<MachineCell> predicted = {machine_cell("a", 4, 8, {{"tree", 5}, {"ring", 4}}),
                                              machine_cell("a", 4, 64, {{"tree", 9}, {"ring", 8}})};
  const std::vector<Taken> taken = by_predictions(cells, predicted, kOfSizesAlone);
  EXPECT_EQ(taken[0].regret, 1);
  EXPECT_EQ(taken[1].regret, 0);
  EXPECT_EQ(taken[2].lack, Lack::section);
}

}  // namespace
}  // namespace tutti::tune
