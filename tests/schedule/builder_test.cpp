// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder.hpp"

#include <new>

#include <gtest/gtest.h>

#include "scripted.hpp"

namespace tutti {
namespace {

TEST(Builder, NeighboursGoAroundTheRingBothWays) {
  const Builder b(1, 5, 0);
  EXPECT_EQ(b.neighbour(0), 1U);
  EXPECT_EQ(b.neighbour(4), 0U);
  EXPECT_EQ(b.neighbour(-1), 0U);
  EXPECT_EQ(b.neighbour(-2), 4U);
  EXPECT_EQ(b.neighbour(-12), 4U);
  EXPECT_EQ(b.neighbour(12), 3U);
}

TEST(Lane, HandsOnWhatItsAlgorithmThrowsAndIsOver) {
  Builder b(0, 2, 0);
  const auto algorithm = [](Builder& builder) -> Lane {
    co_yield builder.copy(builder.input(), builder.output());
    throw std::bad_alloc();
  };
  Lane lane = algorithm(b);
  EXPECT_NE(lane.next(), nullptr);
  EXPECT_THROW((void)lane.next(), std::bad_alloc);
  EXPECT_EQ(lane.next(), nullptr);
}

TEST(Builder, NumbersStepsAndPostsApart) {
  Builder b(0, 2, 0);
  EXPECT_EQ(b.copy(b.input(), b.output()).number, 0U);
  EXPECT_EQ(b.expose(b.input()).post, 0U);
  EXPECT_EQ(b.open(b.output()).post, 1U);
  EXPECT_EQ(b.close().number, 3U);
  const Step& signal = b.signal();
  EXPECT_EQ(signal.post, 2U);
  EXPECT_EQ(signal.number, 4U);
}

TEST(Builder, AfterHoldsForTheNextStepOnly) {
  Builder b(0, 2, 0);
  b.after(1, 7);
  b.after(2, 8);
  EXPECT_EQ(b.copy(b.input(), b.output()).after, (std::vector<After>{{1, 7}, {2, 8}}));
  EXPECT_TRUE(b.copy(b.input(), b.output()).after.empty());
}

TEST(Builder, GivesUpOnlyWhereAsked) {
  Builder b(0, 2, 0);
  EXPECT_TRUE(b.send_away(1, b.output()).gives_up_source);
  EXPECT_FALSE(b.send(1, b.output()).gives_up_source);
}

TEST(Builder, PullsFromEveryRankInRankOrderAndPushesToTheOthers) {
  Builder b(1, 3, 0);
  EXPECT_EQ(to_string(b.pull_reduce_all(4, b.input(), b.output())),
            "pull_reduce output[0.0] = rank 0 input[0.0] (post 4) + input[0.0] + rank 2 input[0.0] (post 4)");
  EXPECT_EQ(to_string(b.push_to_all_others(1, b.output(), b.output())),
            "push rank 0 output[0.0] (post 1), rank 2 output[0.0] (post 1) = output[0.0]");
  EXPECT_EQ(to_string(b.wait_for_all_others(2)), "wait for post 2 of 0, 2");
}

TEST(Builder, StepsHaveTheNamesOfTheLiterature) {
  Builder b(0, 2, 0);
  EXPECT_EQ(name_of(b.send(1, b.input())), "send");
  EXPECT_EQ(name_of(b.recv(1, b.output())), "recv");
  EXPECT_EQ(name_of(b.recv_reduce(1, b.input(), b.output())), "recv_reduce");
  EXPECT_EQ(name_of(b.copy(b.input(), b.output())), "copy");
  EXPECT_EQ(name_of(b.reduce(std::vector<Slice>{b.input(), b.output()}, b.output())), "reduce");
  EXPECT_EQ(name_of(b.pull(1, 0, b.input(), b.output())), "pull");
  EXPECT_EQ(to_string(Slice{Space::scratch, 2, 3, 4}), "scratch[2.3-6]");
}

Lane counts(Builder& b, std::uint32_t steps) {
  for (std::uint32_t step = 0; step < steps; ++step) co_yield b.signal();
}

TEST(Lane, EndsAfterItsLastStepAndStaysEnded) {
  const Schedule schedule = scripted({}, [](Builder& b, std::uint32_t) { return counts(b, b.rank() * 2); });
  Walk walk = schedule.walk(1, 0);
  ASSERT_NE(walk.next(), nullptr);
  ASSERT_NE(walk.next(), nullptr);
  EXPECT_EQ(walk.next(), nullptr);
  EXPECT_EQ(walk.next(), nullptr);
  Walk empty = schedule.walk(0, 0);
  Walk moved = std::move(empty);
  EXPECT_EQ(moved.next(), nullptr);
}

}  // namespace
}  // namespace tutti
