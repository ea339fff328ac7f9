// SPDX-License-Identifier: Apache-2.0
// Groups and cases of sweeps: the fewest starts, in an order that can be relied on.
#include "bench/axes/case.hpp"

#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

Sweep small() {
  return {.bench = "b",
          .peers = {"a"},
          .num_ranks = {2, 4},
          .axes = {{"bytes", {8, 16, 32, 64, 128, 256}, ""}},
          .environment = {{"", {"X"}, {{"1"}, {"2"}, {std::nullopt}}}, {"", {"Y"}, {{"1"}, {"2"}, {"3"}}}},
          .rules = {}};
}

TEST(Plan, VariablesAndRanksMakeGroupsAndAxesDoNot) {
  const Result<std::vector<Group>> groups = plan(small());
  ASSERT_TRUE(groups.ok()) << groups.status().to_string();
  EXPECT_EQ(groups->size(), 18U);
  for (const Group& group : *groups) EXPECT_EQ(group.cases.size(), 6U);
  EXPECT_EQ(to_string(groups->front()), "peer a, 2 ranks, X=1, Y=1");
  EXPECT_EQ(to_string(groups->back()), "peer a, 4 ranks, X unset, Y=3");
}

TEST(Plan, ZippedVariablesArePoints) {
  Sweep sweep = small();
  sweep.environment = {{"", {"X", "Y"}, {{"1", "2"}, {"3", "4"}, {"5", "6"}}}};
  const Result<std::vector<Group>> groups = plan(sweep);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups->size(), 6U);
  EXPECT_EQ(to_string((*groups)[1]), "peer a, 2 ranks, X=3, Y=4");
}

TEST(Plan, WhatConcernsOnePeerDoesNotMultiplyOthers) {
  Sweep sweep = small();
  sweep.peers = {"a", "b"};
  sweep.num_ranks = {2};
  sweep.environment = {{"a", {"X"}, {{"1"}, {"2"}}}};
  sweep.axes.push_back({"bytes", {1}, "b"});
  const Result<std::vector<Group>> groups = plan(sweep);
  ASSERT_TRUE(groups.ok());
  ASSERT_EQ(groups->size(), 3U);
  EXPECT_EQ((*groups)[0].cases.size(), 6U);
  EXPECT_EQ((*groups)[2].peer, "b");
  EXPECT_TRUE((*groups)[2].settings.empty());
  EXPECT_EQ((*groups)[2].cases.size(), 1U);
}

TEST(Plan, APeerMayComeTwice) {
  Sweep sweep = small();
  sweep.peers = {"a", "a"};
  sweep.environment.clear();
  const Result<std::vector<Group>> groups = plan(sweep);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ((*groups)[0].label, "a");
  EXPECT_EQ((*groups)[2].label, "a#2");
  EXPECT_EQ((*groups)[2].peer, "a");
}

TEST(Plan, RulesSkipWithTheirReason) {
  Sweep sweep = small();
  sweep.rules = {[](const Point& point, int num_ranks) {
    return num_ranks == 4 || point.find("bytes")->integer() == 8 ? std::string("no") : std::string();
  }};
  const Result<std::vector<Group>> groups = plan(sweep);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups->size(), 9U) << "groups of which all is skipped are not started";
  EXPECT_EQ(groups->front().cases[0].skipped, "no");
  EXPECT_EQ(groups->front().cases[1].skipped, "");
}

TEST(Plan, RefusesWhatCannotBeRun) {
  const auto refusal = [](auto change) {
    Sweep sweep = small();
    change(sweep);
    const Result<std::vector<Group>> groups = plan(sweep);
    return groups.ok() ? std::string() : std::string(groups.status().message());
  };
  EXPECT_EQ(refusal([](Sweep& sweep) { sweep.peers.clear(); }), "there is no peer to measure");
  EXPECT_EQ(refusal([](Sweep& sweep) { sweep.num_ranks.clear(); }), "there is no number of ranks");
  EXPECT_EQ(refusal([](Sweep& sweep) { sweep.axes[0].values.clear(); }), "axis bytes has no values");
  EXPECT_EQ(refusal([](Sweep& sweep) { sweep.axes[0].values.emplace_back(8); }), "axis bytes has 8 twice");
  EXPECT_EQ(refusal([](Sweep& sweep) { sweep.environment[1].names = {"X"}; }), "variable X is on two axes");
  EXPECT_EQ(refusal([](Sweep& sweep) { sweep.rules = {[](const Point&, int) { return std::string("no"); }}; }),
            "every case is skipped; the first, bytes=8: no");
  EXPECT_EQ(refusal([](Sweep& sweep) {
              sweep.axes.clear();
              for (const char* name : {"a", "b", "c", "d"}) {
                Axis axis{name, {}, ""};
                for (int value = 0; value < 100; ++value) axis.values.emplace_back(value);
                sweep.axes.push_back(std::move(axis));
              }
            }),
            "the sweep has more than 1000000 cases");
}

}  // namespace
}  // namespace tutti::harness
