// SPDX-License-Identifier: Apache-2.0
// Schedules written as GOAL. That they take the time that they take themselves is in goal_test.cpp.
#include <string>

#include <gtest/gtest.h>

#include "simulate/trace/goal.hpp"
#include "small_fabrics.hpp"
#include "small_runs.hpp"

namespace tutti::simulate {
namespace {

TEST(GoalWriter, WhatIsNoMessageIsRefused) {
  const Result<std::string> text = write_goal(schedule_of(Collective::all_reduce, "one_shot", 4), {.count = 8});
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.status().code(), Code::unsupported);
  EXPECT_EQ(text.status().message(),
            "GOAL has messages, and no access to other ranks' memory. one_shot of all_reduce has one: rank 0, lane 0, "
            "expose input[0.0] as post 0. Choose an algorithm by messages ('tutti algorithms' tells)");
}

TEST(GoalWriter, TheTextIsThatOfLogGOPSim) {
  const Result<std::string> text =
      write_goal(schedule_of(Collective::all_gather, "ring", 3), {.count = 2, .element_size = 4});
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(
      text->starts_with("// Written by Tutti: all_gather of ring, 3 ranks, blocks of 2 elements of 4 bytes\n"
                        "num_ranks 3\n\nrank 0 {\nl1: send 8b to 1 tag 0\n"))
      << *text;
  EXPECT_NE(text->find("l3 requires l2\n"), std::string::npos) << *text;
}

// Three ends of 40 bytes at 2 bytes a nanosecond, after 5.
TEST(GoalWriter, FoldsAreCalculatedByTheFabricsMemory) {
  fabric::Fabric fabric = wires(2, 100, 1);
  fabric.memories[0].bandwidth = 2;
  fabric.memories[0].latency = 5;
  const Schedule schedule = schedule_of(Collective::all_reduce, "recursive_doubling", 2);
  const Result<std::string> text = write_goal(schedule, {.count = 10, .element_size = 4, .fabric = &fabric});
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("rank 1 {\nl1: send 40b to 0 tag 0\nl2: recv 40b from 0 tag 0\nl3: calc 65\n"
                       "l2 requires l1\nl3 requires l2\n}\n"),
            std::string::npos)
      << *text;
  const Result<std::string> without = write_goal(schedule, {.count = 10, .element_size = 4});
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->find("calc"), std::string::npos) << *without;
}

}  // namespace
}  // namespace tutti::simulate
