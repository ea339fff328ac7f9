// SPDX-License-Identifier: Apache-2.0
#include "tune/regret.hpp"

#include <gtest/gtest.h>

#include "made_up.hpp"

namespace tutti::tune {
namespace {

DecisionTable table_of(const std::string& machine, std::uint32_t ranks, std::uint64_t most, const std::string& small,
                       const std::string& large) {
  DecisionTable table;
  table.machine = machine;
  TableSection section;
  section.ranks = ranks;
  section.ranges.push_back(
      {.most_bytes = most, .way = {.algorithm = small, .tuning = {}, .settings = {}}, .evidence = {}});
  section.ranges.push_back({.way = {.algorithm = large, .tuning = {}, .settings = {}}, .evidence = {}});
  table.sections.push_back(section);
  return table;
}

const std::vector<MachineCell>& some_cells() {
  static const std::vector<MachineCell> cells = {
      machine_cell("x", 2, 8, {{"tree", 1}, {"ring", 1.5}}), machine_cell("x", 2, 64, {{"tree", 2}, {"ring", 1}}),
      machine_cell("x", 4, 64, {{"tree", 3}, {"ring", 2}}), machine_cell("y", 2, 64, {{"ring", 1}})};
  return cells;
}

TEST(Regret, IsTheTimeOverTheBestKnownOne) {
  const Rule rule{.name = "", .tables = {table_of("x", 2, 64, "tree", "ring")}, .always = {}};
  const std::vector<Taken> taken = take_all(rule, some_cells());
  ASSERT_EQ(taken.size(), 4U);
  EXPECT_EQ(taken[0].regret, 0);
  EXPECT_EQ(taken[1].regret, 1);  // the range includes its end
  EXPECT_EQ(taken[2].regret, 0.5);
  EXPECT_FALSE(taken[2].is_exact);
  EXPECT_EQ(taken[3].lack, Lack::machine);
  const RegretSummary summary = summarize(taken);
  EXPECT_EQ(summary.judged, 3U);
  EXPECT_EQ(summary.best, 1U);
  EXPECT_EQ(summary.inexact, 1U);
  EXPECT_EQ(summary.lacking(), 1U);
  EXPECT_EQ(summary.mean, 0.5);
  EXPECT_EQ(summary.greatest, 1);
  EXPECT_EQ(summary.where, 1U);
}

TEST(Regret, EachMachineHasItsTableWhateverTheCaseOfItsName) {
  Rule rule{
      .name = "", .tables = {table_of("X", 2, 8, "tree", "ring"), table_of("Y", 2, 8, "tree", "ring")}, .always = {}};
  EXPECT_EQ(table_for(rule, "y"), &rule.tables[1]);
  EXPECT_EQ(table_for(rule, ""), &rule.tables[0]);
  EXPECT_EQ(table_for(rule, "z"), nullptr);
  rule.tables.push_back(table_of("", 2, 8, "tree", "ring"));
  EXPECT_EQ(table_for(rule, "z"), &rule.tables[2]);
}

TEST(Regret, AWayWithoutATimeIsALackAndNoRegretOfZero) {
  const Rule rule{.name = "", .tables = {}, .always = "tree"};
  const std::vector<Taken> taken = take_all(rule, some_cells());
  EXPECT_EQ(taken[1].regret, 1);
  EXPECT_EQ(taken[3].lack, Lack::time);
  ASSERT_TRUE(taken[3].way);
  EXPECT_EQ(taken[3].way->algorithm, "tree");
  const RegretSummary summary = summarize(taken);
  EXPECT_EQ(summary.judged, 3U);
  EXPECT_EQ(summary.time, 1U);
}

TEST(Regret, OneWayForEverythingMayHaveSettings) {
  MachineCell cell = machine_cell("", 2, 8, {{"ring", 2}});
  cell.cell.times.push_back({.way = {.algorithm = "ring", .tuning = {}, .settings = {{"A", "1"}}}, .us = 1});
  EXPECT_EQ(take({.name = "", .tables = {}, .always = "ring"}, cell).regret, 1);
  EXPECT_EQ(take({.name = "", .tables = {}, .always = "ring [A=1]"}, cell).regret, 0);
}

TEST(Regret, ATableOfRanksWithCoresOfTheirOwnSaysNothingOfRanksThatShareThem) {
  DecisionTable table = table_of("", 2, 8, "tree", "ring");
  table.cores = 2;
  const Rule rule{.name = "", .tables = {table}, .always = {}};
  EXPECT_EQ(take(rule, machine_cell("", 2, 8, {{"tree", 1}})).lack, Lack::none);
  EXPECT_EQ(take(rule, machine_cell("", 4, 8, {{"tree", 1}})).lack, Lack::section);
}

}  // namespace
}  // namespace tutti::tune
