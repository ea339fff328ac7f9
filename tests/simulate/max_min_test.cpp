// SPDX-License-Identifier: Apache-2.0
// Each test has the system in words and its answer beside it.
#include "simulate/network/max_min.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::simulate {
namespace {

using Ways = std::vector<std::vector<std::uint32_t>>;

std::vector<double> rates(const std::vector<double>& capacities, const Ways& ways) {
  std::vector<Flow> flows;
  for (const auto& way : ways) flows.push_back({.links = way});
  MaxMin(capacities).solve(flows);
  std::vector<double> found;
  for (const Flow& flow : flows) found.push_back(flow.rate);
  return found;
}

TEST(MaxMin, FlowsOfOneLinkShareIt) { EXPECT_EQ(rates({12}, {{0}, {0}, {0}}), (std::vector<double>{4, 4, 4})); }

// a and b share link 0 of 10; b and c share link 1 of 30. Link 0 fills first at 5 each; c has the other 25.
TEST(MaxMin, WhatOneFlowCannotUseOthersGet) {
  EXPECT_EQ(rates({10, 30}, {{0}, {0, 1}, {1}}), (std::vector<double>{5, 5, 25}));
}

// Link 0 of 6 carries a, b, c; link 1 of 3 carries c, d, e: 1 each there, so a and b have (6 - 1) / 2.
TEST(MaxMin, TheTightestLinkIsFilledFirst) {
  EXPECT_EQ(rates({6, 3}, {{0}, {0}, {0, 1}, {1}, {1}}), (std::vector<double>{2.5, 2.5, 1, 1, 1}));
}

TEST(MaxMin, ALinkWithoutALimitLimitsNothing) {
  EXPECT_EQ(rates({0, 8}, {{0, 1}, {0, 1}}), (std::vector<double>{4, 4}));
}

// What defines the answer: no link is overfull, and each flow has a full link on which no other is faster.
TEST(MaxMin, EveryFlowHasALinkThatIsFullAndOnWhichNoneIsFaster) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint32_t links = 1 + random() % 8;
    std::vector<double> capacities;
    for (std::uint32_t link = 0; link < links; ++link) capacities.push_back(static_cast<double>(1 + random() % 20));
    Ways ways(1 + random() % 12);
    for (auto& way : ways) {
      for (std::uint32_t link = 0; link < links; ++link)
        if (random() % 3 == 0) way.push_back(link);
      if (way.empty()) way.push_back(static_cast<std::uint32_t>(random() % links));
    }
    const std::vector<double> found = rates(capacities, ways);
    std::vector<double> used(links);
    std::vector<double> fastest(links);
    for (std::size_t flow = 0; flow < ways.size(); ++flow) {
      for (const std::uint32_t link : ways[flow]) {
        used[link] += found[flow];
        fastest[link] = std::max(fastest[link], found[flow]);
      }
    }
    for (std::uint32_t link = 0; link < links; ++link) ASSERT_LE(used[link], capacities[link] * (1 + 1e-12));
    for (std::size_t flow = 0; flow < ways.size(); ++flow) {
      bool is_held = false;
      for (const std::uint32_t link : ways[flow])
        is_held =
            is_held || (used[link] > capacities[link] * (1 - 1e-12) && fastest[link] <= found[flow] * (1 + 1e-12));
      ASSERT_TRUE(is_held) << "trial " << trial << ", flow " << flow;
    }
  }
}

}  // namespace
}  // namespace tutti::simulate
