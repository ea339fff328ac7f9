// SPDX-License-Identifier: Apache-2.0
// Small runs whose times can be reckoned by hand; the sums stand beside them.
#include "simulate/simulate.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "schedule/builder.hpp"
#include "schedule/listed.hpp"
#include "small_fabrics.hpp"
#include "small_runs.hpp"

namespace tutti::simulate {
namespace {

// A rank sends to each other; all go through its one link: 1000 B at 1 B/ns each.
TEST(Simulate, MessagesQueueForTheLinkThatTheyShare) {
  const Answer answer = run(schedule_of(Collective::scatter, "linear", 4), star(4, 10, 1), {.count = 1000});
  // The third message enters the switch's link when two have crossed: 2000 + 1000 + 2 · 10.
  EXPECT_DOUBLE_EQ(answer.time, 3020);
  EXPECT_DOUBLE_EQ(answer.shares.of(Share::link_wait), 2000);
  EXPECT_DOUBLE_EQ(answer.shares.of(Share::bytes), 1000);
  EXPECT_DOUBLE_EQ(answer.shares.of(Share::latency), 20);
  EXPECT_DOUBLE_EQ(answer.links[0].bytes, 3000);
  EXPECT_DOUBLE_EQ(answer.links[0].busy, 3000);
  EXPECT_EQ(answer.messages, 3U);
}

// The root gets from all three at once: each has a third of its link, and all are there at the same time.
TEST(Simulate, MessagesOfDifferentSendersShareALinkAlike) {
  const Answer answer = run(schedule_of(Collective::gather, "linear", 4), star(4, 10, 1), {.count = 1000});
  EXPECT_NEAR(answer.time, 3020, 1e-6);
  EXPECT_NEAR(answer.shares.of(Share::link_wait), 2000, 1e-6);
  EXPECT_NEAR(answer.shares.of(Share::bytes), 1000, 1e-6);
  EXPECT_NEAR(answer.shares.of(Share::latency), 20, 1e-6);
}

// Loads are made by many threads at once: those of three ranks from one share its link from the beginning.
TEST(Simulate, LoadsShareALinkAlike) {
  const Answer answer =
      run(schedule_of(Collective::broadcast, "direct", 4), star(4, 10, 1), {.count = 1000, .staged = false});
  // Exposed at 0 and seen at 20, asked for until 40, 20 back.
  for (const std::uint32_t rank : {1U, 2U, 3U}) EXPECT_NEAR(answer.rank_times[rank], 40 + 3000 + 20, 1e-6);
}

// Costs that are not the ranks' own count by the narrowest kind that a schedule is of, up to their limit.
TEST(Simulate, CostsAreOfTheNarrowestKindOfTheSchedule) {
  using fabric::Channels;
  fabric::Fabric fabric = wires(4, 10, 1);
  fabric.costs = {{.channels = Channels::messages, .name = "messages"},
                  {.channels = Channels::direct, .name = "direct"},
                  {.channels = Channels::one_phase, .name = "list"},
                  {.channels = Channels::stores, .name = "stores"},
                  {.channels = Channels::exchange, .up_to = 64, .name = "small"}};
  const auto costs = [&](const Schedule& schedule, std::uint64_t count) {
    return run(schedule, fabric, {.count = count}).costs;
  };
  EXPECT_EQ(costs(schedule_of(Collective::all_reduce, "one_shot", 4), 64), "small");
  EXPECT_EQ(costs(schedule_of(Collective::all_reduce, "one_shot", 4), 65), "list");
  EXPECT_EQ(costs(schedule_of(Collective::all_gather, "direct", 4), 8), "list");
  EXPECT_EQ(costs(schedule_of(Collective::all_reduce, "two_shot_pull", 4), 8), "direct");
  EXPECT_EQ(costs(schedule_of(Collective::all_reduce, "two_shot", 4), 8), "stores");
  EXPECT_EQ(costs(schedule_of(Collective::broadcast, "push_pull", 4), 8), "stores") << "rank 1 opens, not rank 0";
  EXPECT_EQ(costs(schedule_of(Collective::all_reduce, "ring", 4), 8), "") << "those of the ranks";
  // Rank 0 posts first, and the others do not.
  Schedule chain = schedule_of(Collective::broadcast, "chain", 4);
  chain.lane = [](Builder& b, std::uint32_t) -> Lane {
    if (b.rank() == 0) co_yield b.expose(b.input());
    if (b.rank() == 0) co_yield b.copy(b.input(), b.output());
    if (b.rank() > 0) co_yield b.pull(b.rank() - 1, 0, b.rank() == 1 ? b.input() : b.output(), b.output());
    if (b.rank() > 0 && b.rank() + 1 < b.num_ranks()) co_yield b.expose(b.output());
    co_yield b.close();
  };
  EXPECT_EQ(costs(chain, 8), "direct");
  fabric.costs.pop_back();
  EXPECT_EQ(costs(schedule_of(Collective::all_reduce, "one_shot", 4), 64), "list");
}

TEST(Simulate, AGapLiesBetweenTwoMessagesThatEnterALink) {
  fabric::Fabric fabric = star(4, 10, 1);
  for (fabric::Link& link : fabric.links) link.gap = 500;
  const Answer answer = run(schedule_of(Collective::scatter, "linear", 4), fabric, {.count = 100});
  EXPECT_DOUBLE_EQ(answer.time, 2 * 500 + 100 + 2 * 10);
}

// One slot, and 50 ns until a credit of 1 B is back. The chain's first rank sends four rounds of 100 B.
TEST(Simulate, ASenderWaitsForRoomUntilTheCreditHasCome) {
  fabric::Fabric fabric = wires(2, 49, 1);
  fabric.queue = {.slots = 1, .slot_bytes = 100, .credit_bytes = 1};
  const Schedule chain = schedule_of(Collective::broadcast, "chain", 2);
  const Answer answer = run(chain, fabric, {.count = 400});
  // Each round: the message takes 149 and its credit 50; the last one needs no credit.
  EXPECT_EQ(answer.messages, 4U * chain.division(Space::input).pieces);
  EXPECT_GT(answer.shares.of(Share::peer_wait), 0);
  fabric.queue.slots = 4;
  EXPECT_LT(run(chain, fabric, {.count = 400}).time, answer.time);
  fabric.queue = {
      .slots = 1, .slot_bytes = 100, .credit_bytes = 1, .back_pressure = fabric::BackPressure::sleep, .wake = 300};
  EXPECT_DOUBLE_EQ(run(chain, fabric, {.count = 400}).time,
                   answer.time + 300 * static_cast<double>(answer.messages - 1));
}

// Rank 1 of the chain hands on what it gets. Its credit from rank 2 takes 50000 ns, and until then it has no room.
TEST(Simulate, ACreditIsNoneBeforeItIsThere) {
  fabric::Fabric fabric = wires(3, 100, 0);
  fabric.links[2 * 3 + 1].latency = 50'000;
  fabric.queue = {.slots = 1, .slot_bytes = 100, .credit_bytes = 1};
  const Schedule chain = schedule_of(Collective::broadcast, "chain", 3);
  const Answer answer = run(chain, fabric, {.count = std::uint64_t{300} * chain.division(Space::input).pieces});
  // A first message takes 100 to rank 1 and 100 to rank 2; each other one waits for the credit of the one before.
  EXPECT_DOUBLE_EQ(answer.time, 200 + static_cast<double>(answer.messages / 2 - 1) * 50'100);
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

// Ranks 0 and 1 have a core, and send three times each, which waits for nothing: there is one change between them.
TEST(Simulate, ARankKeepsItsCoreUntilItWaits) {
  fabric::Fabric fabric = wires(4, 0, 0);
  fabric.costs[0].send_overhead = 100;
  fabric.ranks[1].core = 0;
  fabric.cores[0].switch_cost = 7;
  Schedule schedule;
  schedule.name = "three_sends";
  schedule.num_ranks = 4;
  schedule.spaces = spaces_of(Collective::all_reduce, 4);
  schedule.lane = [](Builder& b, std::uint32_t) -> Lane {
    for (int i = 0; i < 3; ++i) {
      if (b.rank() < 2) {
        co_yield b.send(b.rank() + 2, b.input());
      } else {
        co_yield b.recv(b.rank() - 2, b.output());
      }
    }
  };
  const Answer answer = run(schedule, fabric, {.count = 1, .check = false});
  EXPECT_DOUBLE_EQ(answer.time, 607);
  EXPECT_NEAR(answer.shares.total(), answer.time, 1e-6);
}

// Each sends 100 bytes, which reads and writes them, and folds 100 with 100 to 100; no bytes come from another core.
TEST(Simulate, BetweenRanksOfACoreBytesAreNear) {
  fabric::Fabric fabric = wires(2, 0, 0);
  fabric.ranks[1].core = 0;
  fabric.costs[0].send_times = {{{100, 10'000}}};
  fabric.costs[0].receive_times = {{{100, 10'000}}};
  fabric.memories[0].bandwidth = 1;
  const Schedule schedule = schedule_of(Collective::all_reduce, "recursive_doubling", 2);
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 100}).time, 2 * 200 + 2 * 300);
  fabric.ranks[1].core = 1;
  fabric.cores.resize(2);
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 100}).time, 20'000);
}

TEST(Simulate, LaunchingAndFinishingStandAtBothEnds) {
  fabric::Fabric fabric = wires(2, 5, 0);
  fabric.costs[0].launch = 1000;
  fabric.costs[0].finish = 200;
  const Answer answer = run(schedule_of(Collective::all_reduce, "recursive_doubling", 2), fabric, {.count = 1});
  EXPECT_DOUBLE_EQ(answer.time, 1205);
  EXPECT_DOUBLE_EQ(answer.shares.of(Share::launch), 1200);
}

// 4000 B, for which all ranks are asked (20) once they are seen to have exposed it (20).
TEST(Simulate, ASwitchThatMulticastsSendsOnceAndCopies) {
  const Schedule schedule = schedule_of(Collective::all_reduce, "multicast_two_shot", 4);
  const Answer answer = run(schedule, star(4, 10, 1), {.count = 4000, .staged = false});
  // Each rank's link up: its part for each of four folds, and what it has folded.
  EXPECT_DOUBLE_EQ(answer.links[0].bytes, 4000 + 1000);
  EXPECT_TRUE(answer.checked);
  const Answer one_shot = run(schedule_of(Collective::all_reduce, "multicast_one_shot", 4), star(4, 10, 1),
                              {.count = 4000, .staged = false});
  // Four folds share the links: all are down at 20 + 20 + 16000 + 20, and the others see that 20 later.
  EXPECT_NEAR(*std::min_element(one_shot.rank_times.begin(), one_shot.rank_times.end()), 16'080, 1e-6);
  EXPECT_NEAR(one_shot.time, 16'080, 1e-6);
}

Schedule by_hand(std::uint32_t num_ranks, std::vector<std::vector<Step>> steps) {
  Schedule header;
  header.name = "by hand";
  header.collective = Collective::barrier;
  header.num_ranks = num_ranks;
  header.spaces = spaces_of(Collective::broadcast, num_ranks);
  std::vector<Program> programs;
  for (std::vector<Step>& lane : steps) programs.push_back({.lanes = {std::move(lane)}});
  return listed(header, programs);
}

// Rank 0 opens and closes; rank 1 stores 1000 B, which take 1010 ns.
TEST(Simulate, ACloseWaitsForWhatIsStillOnItsWay) {
  Builder owner(0, 2, 0);
  Builder other(1, 2, 0);
  const Schedule schedule = by_hand(
      2, {{owner.open(Builder::output()), owner.close()}, {other.push(0, 0, Builder::input(), Builder::output())}});
  const Answer answer = run(schedule, wires(2, 10, 1), {.count = 1000, .staged = false});
  // Seen open at 10, there at 1020.
  EXPECT_DOUBLE_EQ(answer.rank_times[0], 1020);
}

// Rank 0 stores to rank 2, says so, and stores to rank 1 three times more.
TEST(Simulate, APostDoesNotWaitForWhatIsStoredAfterIt) {
  Builder owner(0, 3, 0);
  Builder first(1, 3, 0);
  Builder second(2, 3, 0);
  std::vector<Step> stores{owner.push(2, 0, Builder::input(), Builder::output()), owner.signal()};
  for (int i = 0; i < 3; ++i) stores.push_back(owner.push(1, 0, Builder::input(), Builder::output()));
  const std::uint32_t owners[] = {0};
  const Schedule schedule =
      by_hand(3, {stores, {first.open(Builder::output())}, {second.open(Builder::output()), second.wait(owners, 0)}});
  const Answer answer = run(schedule, wires(3, 10, 1), {.count = 1000, .staged = false});
  // Open at 10, stored at 10 + 1000 + 10, and the post with the last byte; what goes to rank 1 takes until 3020.
  EXPECT_DOUBLE_EQ(answer.rank_times[2], 1020);
}

// Rank 0 says by a message of nothing that it has loaded from rank 1; without the load there is nothing to say.
TEST(Simulate, MessagesOfNothingAreSentWhereTheyMayOrderAccesses) {
  const auto time = [](bool loads) {
    Builder reader(0, 2, 0);
    Builder owner(1, 2, 0);
    std::vector<Step> reads;
    if (loads) reads.push_back(reader.pull(1, 0, Builder::input(), Builder::output()));
    reads.push_back(reader.send(1, Builder::input()));
    Schedule schedule = by_hand(2, {reads, {owner.expose(Builder::input()), owner.recv(0, Builder::output())}});
    schedule.collective = Collective::broadcast;
    return run(schedule, wires(2, 10, 1), {.count = 0, .staged = false, .check = false}).time;
  };
  EXPECT_DOUBLE_EQ(time(false), 0);
  EXPECT_DOUBLE_EQ(time(true), 10 + 10);  // exposed at 0, seen at 10
}

// With everything that takes time, lanes that share a core, loads, stores and multicast: the account is the time.
TEST(Simulate, WhatTheTimeWentForAddsUpToIt) {
  int cells = 0;
  for (const std::uint32_t num_ranks : {2U, 3U, 4U, 6U, 8U}) {
    fabric::Fabric fabric = star(num_ranks, 300, 5);
    fabric.costs[0] = {.send_overhead = 120,
                       .receive_overhead = 80,
                       .send_per_byte = 0.1,
                       .post_overhead = 30,
                       .wait_overhead = 20,
                       .launch = 1000,
                       .finish = 10};
    fabric.memories[0].bandwidth = 20;
    for (const Algorithm* algorithm : all_algorithms()) {
      for (const Request& request : cases_of(*algorithm, num_ranks, {.root = 0})) {
        const Schedule schedule = algorithm->make(request);
        for (const std::uint64_t count : {std::uint64_t{48}, std::uint64_t{10'000}}) {
          SCOPED_TRACE(schedule.name + " of " + std::string(name_of(algorithm->collective)));
          const Answer answer =
              run(schedule, fabric, {.count = count, .staged = algorithm->channel == Channel::staged});
          ASSERT_NEAR(answer.shares.total(), answer.time, answer.time * 1e-9);
          ASSERT_DOUBLE_EQ(answer.shares.of(Share::peer_wait), 0);
          for (int share = 0; share < kNumShares; ++share)
            ASSERT_GE(answer.shares.of(static_cast<Share>(share)), -1e-6)
                << kShareNames[static_cast<std::size_t>(share)];
          ++cells;
        }
      }
    }
  }
  EXPECT_GE(cells, 500);
}

// Three read rank 0's 1000 B at once, over its one link.
TEST(Simulate, ReadersOfOneRankQueueForItsLink) {
  const Answer answer = run(schedule_of(Collective::broadcast, "direct", 4), star(4, 10, 1), {.count = 1000});
  EXPECT_DOUBLE_EQ(answer.time, 20 + 20 + 3000 + 20);
  EXPECT_DOUBLE_EQ(answer.shares.of(Share::link_wait), 2000);
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

TEST(Simulate, TellsWhatAFabricCannotDoFromWhatIsWrongAndFromAnInterrupt) {
  const auto code = [](const Schedule& schedule, const fabric::Fabric& fabric, const Options& options) {
    return simulate(schedule, fabric, options).status().code();
  };
  const Schedule ring = schedule_of(Collective::all_reduce, "ring", 3);
  EXPECT_EQ(code(schedule_of(Collective::all_reduce, "multicast_one_shot", 3), wires(3, 1, 1), {.count = 3}),
            Code::unsupported);
  fabric::Fabric narrow = wires(3, 1, 1);
  narrow.queue = {.slots = 1, .slot_bytes = 2};
  EXPECT_EQ(code(ring, narrow, {.count = 3, .element_size = 4}), Code::unsupported);
  std::vector<Program> programs = programs_of(ring);
  programs[1].lanes[0].erase(programs[1].lanes[0].begin());
  EXPECT_EQ(code(listed(ring, programs), wires(3, 1, 1), {.count = 3}), Code::invalid_argument);
  int looks = 0;
  const Options options{.count = 256, .is_interrupted = [&looks] { return ++looks == 2; }};
  EXPECT_EQ(code(schedule_of(Collective::all_reduce, "ring", 256), star(256, 1, 1), options), Code::aborted);
}

class StepsTold final : public Recorder {
 public:
  void step(std::uint32_t, std::uint32_t, std::uint64_t, const Step&, double, double) override { ++num_steps; }
  void message(std::uint32_t, std::uint32_t, double, double, double) override {}
  int num_steps = 0;
};

// 400 steps that load from 400 ranks each: the second look is before any of them.
TEST(Simulate, AnInterruptEndsItInTheMiddleOfWhateverItDoes) {
  StepsTold recorder;
  int looks = 0;
  const Options options{.count = 400, .recorder = &recorder, .is_interrupted = [&looks] { return ++looks == 2; }};
  const Result<Answer> answer =
      simulate(schedule_of(Collective::all_reduce, "one_shot", 400), star(400, 1, 1), options);
  EXPECT_EQ(answer.status().code(), Code::aborted);
  EXPECT_EQ(looks, 2);
  EXPECT_EQ(recorder.num_steps, 0);
}

// 2100 ranks that load from 2099 each.
TEST(Simulate, WhatTakesTooMuchMemoryIsNotBegun) {
  const Result<Answer> answer =
      simulate(schedule_of(Collective::all_reduce, "one_shot", 2100), star(2100, 1, 1), {.count = 1, .check = false});
  EXPECT_EQ(answer.status().code(), Code::unsupported);
  EXPECT_NE(answer.status().message().find("more than 4194304 loads and stores at once"), std::string::npos)
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
