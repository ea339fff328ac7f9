// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/passes.hpp"

#include <gtest/gtest.h>

#include "schedule/collective.hpp"
#include "simulate/engine/sizes.hpp"
#include "small_fabrics.hpp"

namespace tutti::simulate {
namespace {

Schedule all_reduce_of(std::uint32_t num_ranks) {
  Schedule schedule;
  schedule.num_ranks = num_ranks;
  schedule.spaces = spaces_of(Collective::all_reduce, num_ranks);
  return schedule;
}

// Of an all-reduce of 100 bytes.
Passes passes_of(std::uint32_t num_ranks, const fabric::Fabric& fabric, bool in_place = false) {
  const Schedule schedule = all_reduce_of(num_ranks);
  return {fabric, num_ranks, Sizes(schedule, 100, {}, 1, 0), in_place};
}

fabric::Curve curve(std::vector<fabric::CurvePoint> points) { return {std::move(points)}; }

TEST(Passes, TakeWhatTheCurveOfTheirKindSays) {
  fabric::Fabric made = wires(2, 0, 0);
  made.costs[0].send_times = curve({{100, 1}});
  made.costs[0].receive_times = curve({{100, 2}});
  made.costs[0].fold_times = curve({{100, 4}});
  made.costs[0].forward_times = curve({{100, 8}});
  made.costs[0].fold_forward_times = curve({{100, 16}});
  Passes passes = passes_of(2, made);
  EXPECT_TRUE(passes.carries(0));
  const auto time = [&](Pass pass) { return passes.time_of(0, pass, 100); };
  EXPECT_EQ(time({.own_ends = 1, .to_others = 1}), 1);
  EXPECT_EQ(time({.own_ends = 1, .from_others = 1}), 2);
  EXPECT_EQ(time({.own_ends = 2, .from_others = 1, .folds = true}), 4);
  EXPECT_EQ(time({.own_ends = 1, .from_others = 1, .to_others = 1}), 8);
  EXPECT_EQ(time({.own_ends = 2, .from_others = 1, .to_others = 1, .folds = true}), 16);
  // Each further rank that is read from or written to.
  EXPECT_EQ(time({.own_ends = 2, .from_others = 3, .folds = true}), 4 + 2 * 2);
  EXPECT_EQ(time({.own_ends = 1, .to_others = 3}), 1 + 2);
  EXPECT_EQ(time({.own_ends = 2, .from_others = 2, .to_others = 2, .folds = true}), 16 + 2 + 1);
  EXPECT_EQ(passes.time_of(0, {.own_ends = 1, .to_others = 1}, 0), 0);
}

TEST(Passes, WhatIsNotKnownIsTheSumOfWhatIs) {
  fabric::Fabric made = wires(2, 0, 0);
  made.costs[0].send_times = curve({{100, 1}});
  made.costs[0].receive_times = curve({{100, 2}});
  Passes passes = passes_of(2, made);
  EXPECT_EQ(passes.time_of(0, {.own_ends = 2, .from_others = 1, .folds = true}, 100), 2);
  EXPECT_EQ(passes.time_of(0, {.own_ends = 1, .from_others = 1, .to_others = 1}, 100), 3);
  EXPECT_EQ(passes.time_of(0, {.own_ends = 2, .from_others = 1, .to_others = 1, .folds = true}, 100), 3);
}

TEST(Passes, TheWorkingSetIsOfAllRanksOfACore) {
  fabric::Fabric made = wires(3, 0, 0);
  made.ranks[1].core = 0;
  made.costs[0].send_times = curve({{100, 50}});
  made.memories[0].bandwidths = curve({{200, 8}, {400, 4}});
  made.memories[0].beside_bandwidths = curve({{200, 100}, {400, 10}});
  Passes passes = passes_of(3, made);  // 100 bytes in, and 100 out, of each
  EXPECT_EQ(passes.bandwidth(0), 4);
  EXPECT_EQ(passes.bandwidth(1), 4);
  EXPECT_EQ(passes.bandwidth(2), 8);
  EXPECT_EQ(passes.time_of(0, {.own_ends = 1, .to_others = 1}, 100), 50 + 10);
  EXPECT_EQ(passes.time_of(2, {.own_ends = 1, .to_others = 1}, 100), 50 + 1);
}

TEST(Passes, InPlaceTheInputIsTheOutput) {
  fabric::Fabric made = wires(2, 0, 0);
  made.memories[0].bandwidths = curve({{100, 16}, {200, 8}});
  EXPECT_EQ(passes_of(2, made).bandwidth(0), 8);
  EXPECT_EQ(passes_of(2, made, true).bandwidth(0), 16);
}

TEST(Passes, WithoutCurvesMemoryHasItsBandwidth) {
  fabric::Fabric made = wires(2, 0, 0);
  made.memories[0].bandwidth = 7;
  const Passes passes = passes_of(2, made);
  EXPECT_FALSE(passes.carries(0));
  EXPECT_EQ(passes.bandwidth(1), 7);
}

}  // namespace
}  // namespace tutti::simulate
