// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/round.hpp"

#include <gtest/gtest.h>

namespace tutti::harness {

namespace {

Json answer(const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends,
            const std::vector<std::size_t>& late = {}) {
  return {{"samples", {{"starts", starts}, {"ends", ends}, {"late", late}}}};
}

TEST(Round, LastsFromTheFirstStartToTheLastEndWhereAnInstantWasAgreedUpon) {
  const std::vector<Json> answers = {answer({100, 1100}, {130, 1150}), answer({105, 1095}, {140, 1120})};
  const Round round = round_of(answers, 2, Sync::round);
  EXPECT_EQ(round.samples, (std::vector<double>{40, 55}));
  EXPECT_EQ(round.around, 47.5);
}

TEST(Round, IsTheAverageOfWhatRanksSawBehindAMeetingOrABarrier) {
  const std::vector<Json> answers = {answer({100, 1100}, {130, 1150}), answer({105, 1095}, {140, 1120})};
  for (const Sync sync : {Sync::meeting, Sync::barrier})
    EXPECT_EQ(round_of(answers, 2, sync).samples, (std::vector<double>{32.5, 37.5}));
}

TEST(Round, TakesAsLongAsIterationsAreApart) {
  const std::vector<Json> answers = {answer({0, 5000, 9000}, {10, 5010, 9010})};
  EXPECT_EQ(round_of(answers, 3, Sync::barrier).around, 4500);
  EXPECT_EQ(round_of({answer({0}, {10})}, 1, Sync::barrier).around, 10);
}

TEST(Round, LeavesOutWhatBeganLate) {
  const Round round = round_of({answer({0, 100}, {10, 120}, {1}), answer({0, 100}, {10, 120})}, 2, Sync::round);
  EXPECT_EQ(round.samples, (std::vector<double>{10}));
  EXPECT_EQ(round.invalid, 1U);
}

TEST(Round, TakesNoAnswerThatIsShortOfSamples) {
  EXPECT_THROW(static_cast<void>(round_of({answer({0}, {10})}, 2, Sync::round)), Json::exception);
  EXPECT_THROW(static_cast<void>(round_of({answer({0}, {10}, {1})}, 1, Sync::round)), std::exception);
}

}  // namespace

}  // namespace tutti::harness
