// SPDX-License-Identifier: Apache-2.0
// What prove says of schedules that are right: the algorithms, and random ones that are right by construction.
#include "schedule/prove/prove.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "schedule/oracle/random_schedule.hpp"
#include "scripted.hpp"

namespace tutti {
namespace {

Proof prove_algorithm(std::string_view name, std::uint32_t ranks) {
  const Algorithm* algorithm = find_algorithm(Collective::all_reduce, name);
  EXPECT_NE(algorithm, nullptr);
  return prove(algorithm->make({.collective = Collective::all_reduce, .num_ranks = ranks, .root = 0}));
}

TEST(Prove, RingIsUniformAndNeedsTwoMessagesInFlightWhenFused) {
  // The last one is large enough for two threads.
  for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 7U, 8U, 13U, 16U, 17U, 180U}) {
    const Proof proof = prove_algorithm("ring", ranks);
    ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
    EXPECT_EQ(proof.order, OrderClass::uniform);
    EXPECT_EQ(proof.least_depth, 1U);
    EXPECT_EQ(proof.least_depth_fused, 2U);
    EXPECT_EQ(proof.roundings, ranks - 1);
    EXPECT_EQ(proof.out_of_place.exposure, Exposure::none);
  }
}

TEST(Prove, OneShotIsOrderedAndInPlaceRightOnlyWhereItCopies) {
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
    const Proof proof = prove_algorithm("one_shot", ranks);
    ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
    EXPECT_EQ(proof.order, OrderClass::ordered);
    EXPECT_FALSE(proof.has_messages);
    EXPECT_EQ(proof.least_slots, 1U);
    EXPECT_EQ(proof.roundings, 1U);
    EXPECT_EQ(proof.out_of_place.exposure, Exposure::name_safe);
    ASSERT_EQ(proof.in_place.exposure, Exposure::copy_only);
    EXPECT_EQ(proof.in_place.why_copy_only->fault, Fault::race);
  }
}

TEST(Prove, TwoShotIsOrderedAndRightByName) {
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
    const Proof proof = prove_algorithm("two_shot", ranks);
    ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
    EXPECT_EQ(proof.order, OrderClass::ordered);
    EXPECT_EQ(proof.out_of_place.exposure, Exposure::name_safe);
    EXPECT_EQ(proof.in_place.exposure, Exposure::name_safe);
  }
}

TEST(Prove, EveryAlgorithmKeepsWhatItPromisesForOneRankAndForMany) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 31U, 32U, 33U, 64U, 65U}) {
      SCOPED_TRACE(testing::Message() << algorithm->name << " of " << ranks << " ranks");
      const std::vector<Request> cases = cases_of(*algorithm, ranks);
      if (cases.empty()) continue;
      const Proof proof = prove(algorithm->make(cases.front()));
      ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
      EXPECT_LE(proof.order, algorithm->order);
      EXPECT_LE(proof.least_depth_fused, 2U);
    }
  }
}

// Rank 0 folds and hands out; which of its two steps is marked as completing is the question.
Lane marked(Builder& b, bool at_fold, bool at_send) {
  if (b.rank() == 1) {
    co_yield b.send(0, b.input());
    co_yield b.recv(0, b.output());
    co_return;
  }
  if (at_fold) b.completing();
  co_yield b.recv_reduce(1, b.input(), b.output());
  if (at_send) b.completing();
  co_yield b.send(1, b.output());
}

TEST(Prove, TellsWhichStepIsMarkedWrong) {
  const auto verdict = [](bool at_fold, bool at_send) {
    const Proof proof = prove(scripted({}, [=](Builder& b, std::uint32_t) { return marked(b, at_fold, at_send); }));
    if (proof.ok()) return std::string("right");
    EXPECT_EQ(proof.failure->fault, Fault::touch);
    return fmt::format("step {} {}", proof.failure->step, proof.failure->what);
  };
  EXPECT_EQ(verdict(true, false), "right");
  EXPECT_EQ(verdict(false, false),
            "step 0 makes the result complete and is not marked as the step that completes it (out of place, as "
            "written, staged)");
  EXPECT_EQ(verdict(true, true),
            "step 1 is marked as completing a result, which it does not (out of place, as written, staged)");
}

TEST(Prove, PassesRandomSchedules) {
  for (int family = 0; family < kNumFamilies; ++family) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      const auto ranks = static_cast<std::uint32_t>(1 + seed % 7);
      const Schedule schedule = random_schedule(seed, static_cast<Family>(family), ranks);
      const Proof proof = prove(schedule);
      ASSERT_TRUE(proof.ok()) << schedule.name << ", seed " << seed << ", " << ranks << " ranks\n"
                              << proof.failure->to_string();
    }
  }
}

TEST(Prove, RandomSymmetricSchedulesAreRightByName) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Proof proof = prove(random_schedule(seed, Family::symmetric, static_cast<std::uint32_t>(2 + seed % 5)));
    ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
    EXPECT_EQ(proof.in_place.exposure, Exposure::name_safe) << "seed " << seed << "\n"
                                                            << proof.in_place.why_copy_only->to_string();
  }
}

}  // namespace
}  // namespace tutti
