// Small runs whose times can be reckoned by hand; the sums stand beside them.
#include "simulate/simulate.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "schedule/listed.hpp"
#include "small_fabrics.hpp"

namespace tutti::simulate {
namespace {

Schedule schedule_of(Collective collective, std::string_view name, std::uint32_t num_ranks) {
  Request request;
  request.collective = collective;
  request.num_ranks = num_ranks;
  return find_algorithm(collective, name)->make(request);
}

Answer run(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options) {
  const Result<Answer> answer = simulate(schedule, fabric, options);
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  return answer.ok() ? *answer : Answer{};
}

// A rank sends to each other; all go through its one link: 1000 B at 1 B/ns each.
TEST(Simulate, MessagesQueueForTheLinkThatTheyShare) {
  const Answer answer = run(schedule_of(Collective::scatter, "linear", 4), star(4, 10, 1), {.count = 1000});
  // The third message enters the switch's link when two have crossed: 2000 + 1000 + 2 · 10.
  EXPECT_DOUBLE_EQ(answer.time, 3020);
  EXPECT_DOUBLE_EQ(answer.shares.of(Share::queueing), 2000);
  EXPECT_DOUBLE_EQ(answer.shares.of(Share::wire), 1020);
  EXPECT_DOUBLE_EQ(answer.links[0].bytes, 3000);
  EXPECT_DOUBLE_EQ(answer.links[0].busy, 3000);
  EXPECT_EQ(answer.messages, 3U);
}

TEST(Simulate, FlowsShareALinkAlike) {
  const Answer answer =
      run(schedule_of(Collective::scatter, "linear", 4), star(4, 10, 1), {.count = 1000, .sharing = Sharing::fair});
  // All three begin at 20 and have a third of the link each.
  EXPECT_NEAR(answer.time, 3020, 1e-6);
  EXPECT_NEAR(answer.rank_times[1], 3020, 1e-6);
}

TEST(Simulate, AGapKeepsALinkBusyForLongerThanTheBytesTake) {
  fabric::Fabric fabric = star(4, 10, 1);
  for (fabric::Link& link : fabric.links) link.gap = 500;
  const Answer answer = run(schedule_of(Collective::scatter, "linear", 4), fabric, {.count = 100});
  EXPECT_DOUBLE_EQ(answer.time, 2 * 500 + 100 + 2 * 10);
}

// Two slots, and 50 ns until a credit of 1 B is back. The chain's first rank sends four rounds of 100 B.
TEST(Simulate, ASenderWaitsForRoomUntilTheCreditHasCome) {
  fabric::Fabric fabric = wires(2, 49, 1);
  fabric.queue = {.slots = 1, .slot_bytes = 100, .credit_bytes = 1};
  const Schedule chain = schedule_of(Collective::broadcast, "chain", 2);
  const Answer answer = run(chain, fabric, {.count = 400});
  // Each round: the message takes 149 and its credit 50; the last one needs no credit.
  EXPECT_EQ(answer.messages, 4U * chain.division(Space::input).pieces);
  EXPECT_GT(answer.shares.of(Share::credit), 0);
  fabric.queue.slots = 4;
  EXPECT_LT(run(chain, fabric, {.count = 400}).time, answer.time);
  fabric.queue = {
      .slots = 1, .slot_bytes = 100, .credit_bytes = 1, .back_pressure = fabric::BackPressure::sleep, .wake = 300};
  EXPECT_DOUBLE_EQ(run(chain, fabric, {.count = 400}).time,
                   answer.time + 300 * static_cast<double>(answer.messages - 1));
}

TEST(Simulate, RanksOfOneCoreWorkOneAfterTheOther) {
  fabric::Fabric fabric = wires(4, 0, 0);
  fabric.costs[0].send_overhead = 100;
  const Schedule schedule = schedule_of(Collective::all_reduce, "recursive_doubling", 4);
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 1}).time, 200);
  for (std::uint32_t rank = 0; rank < 4; ++rank) fabric.ranks[rank].core = rank % 2;
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 1}).time, 400);
  for (fabric::Core& core : fabric.cores) core.switch_cost = 7;
  EXPECT_GT(run(schedule, fabric, {.count = 1}).time, 400 + 2 * 7);
}

TEST(Simulate, LaunchingAndFinishingStandAtBothEnds) {
  fabric::Fabric fabric = wires(2, 5, 0);
  fabric.costs[0].launch = 1000;
  fabric.costs[0].finish = 200;
  const Answer answer = run(schedule_of(Collective::all_reduce, "recursive_doubling", 2), fabric, {.count = 1});
  EXPECT_DOUBLE_EQ(answer.time, 1205);
  EXPECT_DOUBLE_EQ(answer.shares.of(Share::launch), 1200);
}

// 1000 B go up from the sender once, and down to each of the others at the same time.
TEST(Simulate, ASwitchThatMulticastsSendsOnceAndCopies) {
  const Schedule schedule = schedule_of(Collective::all_reduce, "multicast_two_shot", 4);
  const Answer answer = run(schedule, star(4, 10, 1), {.count = 4000, .staged = false});
  // Each rank's link up: its part for each of four folds, and what it has folded.
  EXPECT_DOUBLE_EQ(answer.links[0].bytes, 4000 + 1000);
  EXPECT_TRUE(answer.checked);
}

TEST(Simulate, SaysWhereAScheduleGetsStuckAndWhatIsWrong) {
  const Schedule ring = schedule_of(Collective::all_reduce, "ring", 3);
  std::vector<Program> programs = programs_of(ring);
  std::vector<Program> without_a_send = programs;
  without_a_send[1].lanes[0].erase(without_a_send[1].lanes[0].begin());
  const Result<Answer> stuck = simulate(listed(ring, without_a_send), wires(3, 1, 1), {.count = 3});
  ASSERT_FALSE(stuck.ok());
  EXPECT_NE(stuck.status().to_string().find("gets stuck: rank"), std::string::npos) << stuck.status().to_string();

  std::vector<Program> wrong = programs;
  for (Step& step : wrong[2].lanes[0])
    for (Endpoint& end : step.sources)
      if (end.place == Place::local) end.slice.first_piece = (end.slice.first_piece + 1) % 3;
  const Result<Answer> answer = simulate(listed(ring, wrong), wires(3, 1, 1), {.count = 3});
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.status().to_string().find("does not hold what all_reduce defines"), std::string::npos)
      << answer.status().to_string();
}

TEST(Simulate, IsTheSameEachTime) {
  const Schedule schedule = schedule_of(Collective::all_reduce, "swing", 16);
  const Answer first = run(schedule, star(16, 10, 1), {.count = 12345});
  const Answer second = run(schedule, star(16, 10, 1), {.count = 12345});
  EXPECT_EQ(first.time, second.time);
  EXPECT_EQ(first.events, second.events);
  EXPECT_EQ(first.rank_times, second.rank_times);
}

}  // namespace
}  // namespace tutti::simulate
