// SPDX-License-Identifier: Apache-2.0
// What becomes of a schedule's steps when it is run by some of the ranks of a larger one.
#include "algorithms/patterns/embed.hpp"

#include <gtest/gtest.h>

namespace tutti::patterns {
namespace {

// Two ranks, two lanes, two pieces: each rank sends what it has to the other and folds what it gets. Lane 1 has the
// second piece, and its fold waits for that of lane 0.
Lane exchange(Builder& b, std::uint32_t piece) {
  const std::uint32_t other = 1 - b.rank();
  co_yield b.send(other, b.input(piece));
  co_yield b.recv(other, Builder::scratch(0, piece));
  if (piece == 1) b.after(0, 2);
  b.completing();
  const Slice sources[] = {b.input(piece), Builder::scratch(0, piece)};
  co_yield b.reduce(sources, b.output(piece));
  if (piece == 0) {
    b.after(1, 0);
    co_yield b.send_away(other, Builder::scratch(0, piece));
    co_yield b.recv(other, Builder::scratch(0, piece));
  }
}

Schedule inner() {
  Schedule schedule;
  schedule.num_ranks = 2;
  schedule.num_lanes = 2;
  schedule.spaces = spaces_of(Collective::all_reduce, 2, 2, 1);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return exchange(b, lane); };
  return schedule;
}

// Inner rank q is outer rank 10 + 3q, and its pieces begin at 5.
Lane outer_lane(Builder& b, std::uint32_t lane) {
  const Schedule schedule = inner();
  if (lane == 0) co_yield b.copy(b.input(5, 2), b.output(5, 2));
  if (lane == 1) b.after(0, 0);
  const auto rank_of = [](std::uint32_t rank) { return 10 + 3 * rank; };
  Embedded embedded(schedule, {.rank_of = rank_of, .first_piece = 5, .steps_before = 1}, 1, lane);
  while (const Step* step = embedded.next(b)) co_yield *step;
}

std::vector<Step> steps_of(std::uint32_t lane) {
  const LaneFunction function = outer_lane;
  Walk walk(function, 13, 20, 0, lane);
  std::vector<Step> steps;
  while (const Step* step = walk.next()) steps.push_back(*step);
  return steps;
}

TEST(Embedded, RanksSlicesAndNumbersAreTheOuterOnes) {
  const std::vector<Step> steps = steps_of(0);
  ASSERT_EQ(steps.size(), 6U);
  for (std::uint32_t number = 0; number < 6; ++number) EXPECT_EQ(steps[number].number, number);
  EXPECT_EQ(to_string(steps[1]), "send message(10) = output[0.5]");
  EXPECT_EQ(to_string(steps[2]), "recv scratch[0.5] = message(10)");
  EXPECT_EQ(to_string(steps[3]), "reduce output[0.5] = output[0.5] + scratch[0.5]");
  EXPECT_EQ(steps[4].destinations[0].rank, 10U);
}

TEST(Embedded, MarksStay) {
  const std::vector<Step> steps = steps_of(0);
  ASSERT_EQ(steps.size(), 6U);
  for (std::uint32_t number = 0; number < 6; ++number) {
    EXPECT_EQ(steps[number].completes, number == 3) << number;
    EXPECT_EQ(steps[number].gives_up_source, number == 4) << number;
  }
}

TEST(Embedded, AfterNamesTheSameStepsWhereverTheyAreNow) {
  const std::vector<Step> first = steps_of(0);
  ASSERT_EQ(first.size(), 6U);
  EXPECT_EQ(first[4].after, (std::vector<After>{{1, 0}})) << "nothing stands before lane 1";
  const std::vector<Step> second = steps_of(1);
  ASSERT_EQ(second.size(), 3U);
  EXPECT_EQ(second[0].after, (std::vector<After>{{0, 0}})) << "what the outer lane asks for";
  EXPECT_EQ(second[1].after, std::vector<After>{});
  EXPECT_EQ(second[2].after, (std::vector<After>{{0, 3}})) << "one step stands before lane 0";
  EXPECT_EQ(second[2].sources[0].slice, (Slice{Space::output, 0, 6, 1}));
}

TEST(Embedded, StepsAreCounted) {
  EXPECT_EQ(num_steps_of(inner(), 0, 0), 5U);
  EXPECT_EQ(num_steps_of(inner(), 0, 1), 3U);
}

}  // namespace
}  // namespace tutti::patterns
