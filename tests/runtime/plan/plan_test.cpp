// SPDX-License-Identifier: Apache-2.0
// What a plan refuses, because the runtime cannot do it.
#include "runtime/plan/plan.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"

namespace tutti {
namespace {

const Step& send_on(Builder& b, std::uint32_t channel) {
  const Endpoint sources[] = {{Place::local, 0, 0, Builder::input()}};
  const Endpoint destinations[] = {{Place::message, 1 - b.rank(), 0, Builder::input(), channel}};
  return b.combine(sources, destinations);
}

const Step& recv_reduce_on(Builder& b, std::uint32_t channel) {
  const Endpoint sources[] = {{Place::message, 1 - b.rank(), 0, Builder::input(), channel},
                              {Place::local, 0, 0, Builder::input()}};
  const Endpoint destinations[] = {{Place::local, 0, 0, Builder::output()}};
  return b.combine(sources, destinations);
}

Lane exchange(Builder& b, std::uint32_t channel) {
  co_yield send_on(b, channel);
  b.completing();
  co_yield recv_reduce_on(b, channel);
}

Result<Plan> plan_on(std::uint32_t channel) {
  Schedule schedule{.name = "exchange", .num_ranks = 2, .spaces = spaces_of(Collective::all_reduce, 2)};
  schedule.lane = [channel](Builder& b, std::uint32_t) { return exchange(b, channel); };
  return make_plan(schedule, 0);
}

TEST(Plan, HasOneConnectionBetweenTwoRanks) {
  EXPECT_TRUE(plan_on(0).ok());
  const Status status = plan_on(1).status();
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_NE(status.to_string().find("several connections"), std::string::npos) << status.to_string();
  EXPECT_NE(status.to_string().find("message(1, channel 1)"), std::string::npos) << status.to_string();
}

// What nobody else reads need not be copied to a slot.
TEST(Plan, KnowsWhichPiecesOthersRead) {
  const auto of_post = [](std::uint32_t rank, std::uint32_t post) {
    const Result<Plan> plan = make_plan(all_reduce::two_shot_pull.make({.num_ranks = 4}), rank);
    EXPECT_TRUE(plan.ok());
    std::string runs;
    for (const Slice& run : plan->posts[rank][post].read) runs += to_string(run) + " ";
    return runs;
  };
  EXPECT_EQ(of_post(0, 0), "input[0.1-3] ");
  EXPECT_EQ(of_post(2, 0), "input[0.0-1] input[0.3] ");
  EXPECT_EQ(of_post(3, 0), "input[0.0-2] ");
  EXPECT_EQ(of_post(2, 1), "output[0.2] ");
}

// Ranks must agree on it, whether they post once or twice themselves.
TEST(Plan, KnowsWhetherAllRanksPostFirst) {
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const Result<Plan> few = make_plan(all_reduce::two_shot_few.make({.num_ranks = 4}), rank);
    ASSERT_TRUE(few.ok());
    EXPECT_FALSE(few->posts_first) << rank;
    const Result<Plan> one = make_plan(all_reduce::one_shot.make({.num_ranks = 4}), rank);
    ASSERT_TRUE(one.ok());
    EXPECT_TRUE(one->posts_first) << rank;
  }
}

// What one slot can hold for all others together.
TEST(Plan, KnowsWhetherAllRanksExposeSeveralPieces) {
  const auto exposes_several = [](const Algorithm& algorithm, std::uint32_t ranks) {
    const Result<Plan> plan =
        make_plan(algorithm.make({.collective = algorithm.collective, .num_ranks = ranks}), ranks - 1);
    EXPECT_TRUE(plan.ok());
    return plan->exposes_several;
  };
  EXPECT_TRUE(exposes_several(all_to_all::direct, 3));
  EXPECT_TRUE(exposes_several(reduce_scatter::direct, 8));
  EXPECT_FALSE(exposes_several(all_to_all::direct, 2));
  EXPECT_FALSE(exposes_several(all_gather::direct, 3));
  EXPECT_FALSE(exposes_several(all_reduce::two_shot_pull, 3));
  EXPECT_FALSE(exposes_several(broadcast::direct, 3));
  EXPECT_FALSE(exposes_several(reduce::push_pull, 3));
}

// At the second of two ranks.
TEST(Plan, IsEndedByAnInterrupt) {
  Schedule schedule{.name = "exchange", .num_ranks = 2, .spaces = spaces_of(Collective::all_reduce, 2)};
  schedule.lane = [](Builder& b, std::uint32_t) { return exchange(b, 0); };
  int looks = 0;
  const auto is_interrupted = [&looks] { return ++looks == 2; };
  EXPECT_EQ(make_plan(schedule, 0, is_interrupted).status().code(), Code::aborted);
}

}  // namespace
}  // namespace tutti
