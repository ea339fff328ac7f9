// SPDX-License-Identifier: Apache-2.0
// When steps happen, and what they have waited for: what a space-time diagram is drawn from.
#include "schedule/timeline/timeline.hpp"

#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "schedule/cost.hpp"
#include "schedule/prove/prove.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti {
namespace {

Timeline timeline(const Schedule& schedule) { return timeline_of(Programs(schedule, Fusion::neighbours)); }

Schedule read(std::string_view text) {
  Result<Schedule> schedule = read_schedule(text, "timeline");
  EXPECT_TRUE(schedule.ok()) << schedule.status().to_string();
  return std::move(schedule).value();
}

// Lane, begin and end of each step of a rank.
using Times = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>;
Times times_of(const Timeline& timeline, std::uint32_t rank) {
  Times times;
  for (const TimedStep& step : timeline.ranks[rank]) times.emplace_back(step.lane, step.begin, step.end);
  return times;
}

using Arrow = std::tuple<TimedTransfer::Kind, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
std::vector<Arrow> arrows_of(const Timeline& timeline) {
  std::vector<Arrow> arrows;
  for (const TimedTransfer& transfer : timeline.transfers)
    arrows.emplace_back(transfer.kind, transfer.from_rank, transfer.to_rank, transfer.begin, transfer.end);
  std::sort(arrows.begin(), arrows.end());
  return arrows;
}

// Rank 0 sends on channel 0 after four copies and on channel 1 at once, so what rank 1 gets first is channel 1's.
TEST(Timeline, AMessageComesOnItsOwnChannel) {
  const Schedule schedule = read(R"(tutti schedule 1
name late_and_early
collective all_gather
ranks 2
in_place no
lanes 3
scratch 3
rank 0
 lane 0
  copy output[0] = input
  copy scratch[0] = output[0]
  copy scratch[1] = scratch[0]
  copy scratch[2] = scratch[1]
  send scratch[2] to 1
 lane 1
  send message(1, channel 1) = input
 lane 2
  recv output[1] = message(1)
rank 1
 lane 0
  copy output[1] = input
  send output[1] to 0
 lane 1
  recv scratch[1] = message(0, channel 1)
 lane 2
  recv output[0] = message(0)
)");
  const Proof proof = prove(schedule);
  ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
  const Timeline both = timeline(schedule);
  EXPECT_EQ(times_of(both, 0), (Times{{0, 0, 1}, {1, 0, 1}, {0, 1, 2}, {2, 1, 2}, {0, 2, 3}, {0, 3, 4}}));
  EXPECT_EQ(times_of(both, 1), (Times{{0, 0, 1}, {1, 1, 2}, {2, 4, 5}}));
  using enum TimedTransfer::Kind;
  EXPECT_EQ(arrows_of(both), (std::vector<Arrow>{{message, 0, 1, 1, 1}, {message, 0, 1, 4, 4}, {message, 1, 0, 1, 1}}));
  EXPECT_EQ(both.length, 5U);
}

TEST(Timeline, AStepWaitsForOtherLanesAndForMessages) {
  const Schedule schedule = read(R"(tutti schedule 1
name waits
collective all_reduce
ranks 2
lanes 2
rank 0
 lane 0
  send input to 1
  recv output = message(1)
rank 1
 lane 0
  recv_reduce output = message(0) + input completes
 lane 1
  send output to 0 after lane 0 step 0
)");
  const Proof proof = prove(schedule);
  ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
  const Timeline both = timeline(schedule);
  EXPECT_EQ(times_of(both, 0), (Times{{0, 0, 1}, {0, 3, 4}}));
  EXPECT_EQ(times_of(both, 1), (Times{{0, 1, 2}, {1, 2, 3}}));
}

// The word that inputs are exposed and outputs opened comes at once; each rank folds and stores in one step, and says
// so.
TEST(Timeline, ReadsWritesAndWaitsAreToldApart) {
  const Timeline two_shot = timeline(all_reduce::two_shot.make({.num_ranks = 2}));
  EXPECT_EQ(times_of(two_shot, 0), (Times{{0, 0, 0}, {0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {0, 1, 1}}));
  using enum TimedTransfer::Kind;
  EXPECT_EQ(arrows_of(two_shot), (std::vector<Arrow>{{read, 0, 1, 0, 0},
                                                     {read, 1, 0, 0, 0},
                                                     {write, 0, 1, 0, 0},
                                                     {write, 1, 0, 0, 0},
                                                     {wait, 0, 1, 1, 1},
                                                     {wait, 1, 0, 1, 1}}));
  const Timeline one_shot = timeline(all_reduce::multicast_one_shot.make({.num_ranks = 2}));
  EXPECT_EQ(arrows_of(one_shot), (std::vector<Arrow>{{read, 0, 1, 0, 0}, {read, 1, 0, 0, 0}}));
}

TEST(Timeline, ARingTakesAUnitForEachOfItsSteps) {
  for (const std::uint32_t n : {2U, 3U, 8U}) {
    const Timeline ring = timeline(all_reduce::ring.make({.num_ranks = n}));
    EXPECT_EQ(ring.length, 2 * (n - 1) + 1);
    EXPECT_EQ(ring.transfers.size(), std::size_t{2} * n * (n - 1));
    for (const TimedTransfer& transfer : ring.transfers) EXPECT_EQ(transfer.begin, transfer.end) << "nobody waits";
  }
}

}  // namespace
}  // namespace tutti
