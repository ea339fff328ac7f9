// SPDX-License-Identifier: Apache-2.0
#include "tune/timings.hpp"

#include <gtest/gtest.h>

#include "made_up.hpp"

namespace tutti::tune {
namespace {

TEST(Cells, HaveTheTimesOfOneCaseAndSizeSideBySide) {
  const std::vector<Timing> timings = {timing_of("b", 8, "ring", 3), timing_of("a", 8, "ring", 5),
                                       timing_of("b", 64, "ring", 4), timing_of("b", 8, "tree", 2)};
  std::size_t repeated = 1;
  const std::vector<MachineCell> cells = cells_of(timings, repeated);
  EXPECT_EQ(repeated, 0U);
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[0].machine, "b");
  EXPECT_EQ(cells[0].cell.bytes, 8U);
  ASSERT_EQ(cells[0].cell.times.size(), 2U);
  EXPECT_EQ(cells[0].cell.best()->way.algorithm, "tree");
  EXPECT_EQ(cells[1].cell.bytes, 64U);
  EXPECT_EQ(cells[2].machine, "a");
}

TEST(Cells, TakeTheMiddleOfSeveralTimesOfOneWay) {
  const auto middle_of = [](const std::vector<double>& times) {
    std::vector<Timing> timings;
    for (const double time : times) timings.push_back(timing_of("", 8, "ring", time));
    std::size_t repeated = 0;
    const std::vector<MachineCell> cells = cells_of(timings, repeated);
    EXPECT_EQ(repeated, times.size() - 1);
    return cells.at(0).cell.times.at(0).us;
  };
  EXPECT_EQ(middle_of({9, 1, 5}), 5);
  EXPECT_EQ(middle_of({9, 1, 5, 4}), 4);
}

TEST(Tables, AreOnePerMachineAndHaveAWayForEachRange) {
  const std::vector<MachineCell> cells = {machine_cell("a", 2, 8, {{"tree", 1}, {"ring", 4}}),
                                          machine_cell("a", 2, 512, {{"tree", 4}, {"ring", 1}}),
                                          machine_cell("b", 4, 8, {{"tree", 1}})};
  const std::vector<DecisionTable> tables = tables_of(cells, "vllm", {});
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].machine, "a");
  EXPECT_EQ(tables[0].peer, "vllm");
  ASSERT_EQ(tables[0].sections.size(), 1U);
  ASSERT_EQ(tables[0].sections[0].ranges.size(), 2U);
  EXPECT_EQ(tables[0].sections[0].range_of(8).way.algorithm, "tree");
  EXPECT_EQ(tables[0].sections[0].range_of(512).way.algorithm, "ring");
  EXPECT_EQ(tables[1].sections[0].ranks, 4U);
}

TEST(Tables, OfOurOwnPeerHaveNoWaysWithSettings) {
  MachineCell cell = machine_cell("", 2, 8, {{"ring", 2}});
  cell.cell.times.push_back({.way = {.algorithm = "ring", .tuning = {}, .settings = {{"TUTTI_SPIN", "0"}}}, .us = 1});
  const std::vector<MachineCell> cells = {cell};
  EXPECT_TRUE(tables_of(cells, kOwnPeer, {})[0].sections[0].range_of(8).way.settings.empty());
  EXPECT_FALSE(tables_of(cells, "openmpi", {})[0].sections[0].range_of(8).way.settings.empty());
}

}  // namespace
}  // namespace tutti::tune
