// SPDX-License-Identifier: Apache-2.0
// How bytes get from rank to rank, in runs so small that the sums stand beside them: loads with a rate of their own,
// loads that are stored elsewhere as they come, what switches fold and copy as fluids, messages of several slots, and
// memories that messages go through.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "schedule/builder.hpp"
#include "schedule/ends.hpp"
#include "schedule/listed.hpp"
#include "simulate/simulate.hpp"
#include "small_fabrics.hpp"
#include "small_runs.hpp"

namespace tutti::simulate {
namespace {

// Exposed at 0 and seen at 10, asked for until 20; 1000 B come 10 later, at 1 B/ns, or at half of that.
TEST(Transfers, LoadsComeNoFasterThanTheirRate) {
  fabric::Fabric fabric = wires(2, 10, 1);
  const Schedule schedule = schedule_of(Collective::broadcast, "direct", 2);
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 1000}).rank_times[1], 20 + 10 + 1000);
  fabric.costs[0].read_rate = 0.5;
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 1000}).rank_times[1], 20 + 10 + 2000);
  fabric.costs[0].read_rate = 2;
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 1000}).rank_times[1], 20 + 10 + 1000);
}

// Each of 4 ranks loads 1000 B from 3 others, at 0.5 B/ns from each; together, where the kernel is not compiled for 4.
TEST(Transfers, AKernelThatIsNotCompiledForSoManyRanksLoadsAtOneRate) {
  fabric::Fabric fabric = wires(4, 10, 1);
  fabric.costs[0].read_rate = 0.5;
  const Schedule schedule = schedule_of(Collective::all_reduce, "one_shot", 4);
  const auto time = [&] { return run(schedule, fabric, {.count = 1000, .staged = false}).time; };
  const double compiled = time();
  fabric.kernels = {{.algorithm = "two_shot", .ranks = {2}}, {.algorithm = "One_Shot", .ranks = {2, 8}}};
  EXPECT_DOUBLE_EQ(time(), compiled + 2 * 2000);
  fabric.kernels[1].ranks.push_back(4);
  EXPECT_DOUBLE_EQ(time(), compiled);
  // Without a rate there is none to share.
  fabric.costs[0].read_rate = 0;
  const double free = time();
  fabric.kernels[1].ranks = {2};
  EXPECT_DOUBLE_EQ(time(), free);
}

TEST(Transfers, LoadsThatASwitchFoldsHaveARateToo) {
  const Schedule schedule = schedule_of(Collective::all_reduce, "multicast_one_shot", 4);
  fabric::Fabric fabric = star(4, 10, 1);
  const Answer free = run(schedule, fabric, {.count = 1000, .staged = false});
  // Seen at 20, asked for until 40; four folds of four parts go up, and the last one is down; all know 20 later.
  EXPECT_DOUBLE_EQ(free.time, 40 + 4000 + 20 + 20);
  fabric.costs[0].multicast_read_rate = 0.1;
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 1000, .staged = false}).time, 40 + 20 + 10'000 + 20);
}

// Of a link of 1 B/ns half is reached: each byte keeps it twice as long.
TEST(Transfers, WhatASwitchFoldsReachesLessOfALinkThanMessages) {
  const Schedule schedule = schedule_of(Collective::all_reduce, "multicast_one_shot", 4);
  fabric::Fabric fabric = star(4, 10, 1);
  fabric.costs[0].multicast_bandwidth = 0.5;
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 1000, .staged = false}).time, 40 + 8000 + 20 + 20);
  fabric.costs[0].multicast_bandwidth = 2;
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 1000, .staged = false}).time, 40 + 4000 + 20 + 20);
  const Schedule ring = schedule_of(Collective::all_reduce, "ring", 4);
  const double as_usual = run(ring, star(4, 10, 1), {.count = 1000}).time;
  fabric.costs[0].multicast_bandwidth = 0.5;
  EXPECT_DOUBLE_EQ(run(ring, fabric, {.count = 1000}).time, as_usual);
}

// Rank 1 loads 1000 B of rank 0 and stores them at rank 2.
TEST(Transfers, WhatIsLoadedIsStoredElsewhereAsItComes) {
  Builder first(0, 3, 0);
  Builder second(1, 3, 0);
  Builder third(2, 3, 0);
  const Endpoint from[] = {remote_end(0, 0, Builder::input())};
  const Endpoint into[] = {remote_end(2, 0, Builder::output())};
  const std::uint32_t middle[] = {1};
  Schedule header;
  header.name = "by hand";
  header.collective = Collective::barrier;
  header.num_ranks = 3;
  header.spaces = spaces_of(Collective::broadcast, 3);
  std::vector<Program> programs(3);
  programs[0].lanes = {{first.expose(Builder::input())}};
  programs[1].lanes = {{}};
  programs[1].lanes[0].push_back(second.combine(from, into));
  programs[1].lanes[0].push_back(second.signal());
  programs[2].lanes = {{}};
  programs[2].lanes[0].push_back(third.open(Builder::output()));
  programs[2].lanes[0].push_back(third.wait(middle, 0));
  const Answer answer = run(listed(header, programs), wires(3, 10, 1), {.count = 1000, .staged = false});
  // Both posts are seen at 10; the first bytes are here at 30 and the last at 1030, and 10 later they are there.
  EXPECT_DOUBLE_EQ(answer.rank_times[1], 1030);
  EXPECT_DOUBLE_EQ(answer.rank_times[2], 1040);
}

// Of each rank's step that stores elsewhere what it loads: when it is over, and when the first of its stores is whole.
class Streams final : public Recorder {
 public:
  explicit Streams(std::uint32_t num_ranks) : of_(num_ranks) {}

  void step(std::uint32_t rank, std::uint32_t, std::uint64_t, const Step& step, double, double end) override {
    const auto is_far = [](const Endpoint& at) { return at.place == Place::remote || at.place == Place::multicast; };
    if (!std::any_of(step.sources.begin(), step.sources.end(), is_far) ||
        !std::any_of(step.destinations.begin(), step.destinations.end(), is_far))
      return;
    EXPECT_EQ(of_[rank].steps++, 0) << "whose stores are these?";
    EXPECT_GE(end, of_[rank].loaded);
    of_[rank].over = end;
  }
  void message(std::uint32_t, std::uint32_t, double, double, double) override {}
  void access(const Transfer& transfer, std::uint32_t rank, double end) override {
    if (transfer.cargo == Cargo::read) of_[rank].loaded = std::max(of_[rank].loaded, end);
    if (transfer.cargo == Cargo::write) of_[rank].stored = std::min(of_[rank].stored, end);
  }

  [[nodiscard]] double stored(std::uint32_t rank) const { return of_[rank].stored; }
  // How many there were.
  [[nodiscard]] int hold(double way) const {
    int steps = 0;
    for (const OfRank& rank : of_) {
      steps += rank.steps;
      if (rank.steps > 0) {
        EXPECT_GE(rank.stored, rank.over + way - 1e-6);
        EXPECT_LT(rank.stored, kNever);
      }
    }
    return steps;
  }

 private:
  static constexpr double kNever = 1e300;
  struct OfRank {
    int steps = 0;
    double loaded = 0;
    double over = 0;
    double stored = kNever;
  };
  std::vector<OfRank> of_;
};

TEST(Transfers, NothingIsStoredBeforeItIsLoaded) {
  constexpr std::uint32_t kRanks = 5;
  struct Place {
    fabric::Fabric fabric;
    double way;  // latency from rank to rank
    bool multicasts;
  };
  std::vector<Place> places = {{star(kRanks, 10, 1), 20, true},
                               {star(kRanks, 10, 1), 20, true},
                               {star(kRanks, 10, 1), 20, true},
                               {star(kRanks, 10, 1), 20, true},
                               {wires(kRanks, 10, 1), 10, false}};
  places[1].fabric.links[2 * 2].bandwidth = 0.1;      // up from rank 2
  places[2].fabric.links[2 * 2 + 1].bandwidth = 0.1;  // down to it
  places[3].fabric.memories[0].bandwidth = 0.1;
  places[4].fabric.links[2 * kRanks + 1].bandwidth = 0.1;
  int steps = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->channel == Channel::message) continue;
    for (const Place& place : places) {
      if (algorithm->channel == Channel::multicast && !place.multicasts) continue;
      for (const Request& request : cases_of(*algorithm, kRanks, {.root = 0})) {
        const Schedule schedule = algorithm->make(request);
        SCOPED_TRACE(schedule.name + " of " + std::string(name_of(algorithm->collective)) + ", fabric " +
                     std::to_string(&place - places.data()));
        Streams streams(kRanks);
        run(schedule, place.fabric,
            {.count = 1000, .staged = algorithm->channel == Channel::staged, .recorder = &streams});
        steps += streams.hold(place.way);
      }
    }
  }
  // Two shots on five fabrics, and by multicast on four; and a reduce from both ends by all but the root.
  EXPECT_EQ(steps, (5 + 4) * static_cast<int>(kRanks) + 5 * static_cast<int>(kRanks - 1));
}

// Three ranks fold 100 B each of 300. Rank 2's way to rank 1 is slow: what rank 1 loads flows there from 20 on, and
// what rank 2 stores at rank 1 beside it from 30 on, where it knows its own sum: 1 B until then, and 99 in 1980. A
// latency later rank 1 has its sum, and another later it is stored.
TEST(Transfers, WhatComesSlowlyIsStoredSlowly) {
  fabric::Fabric fabric = wires(3, 10, 1);
  fabric.links[2 * 3 + 1].bandwidth = 0.1;
  const Schedule schedule = schedule_of(Collective::all_reduce, "two_shot", 3);
  Streams streams(3);
  run(schedule, fabric, {.count = 300, .staged = false, .recorder = &streams});
  EXPECT_NEAR(streams.stored(1), 30 + 1980 + 10 + 10, 1e-6);
}

// The parts of all four go up each link, 4000 B, and with them what its rank has folded, 1000 B, for which the switch
// needs no more time: it comes as it goes.
TEST(Transfers, FluidsAreFoldedAndCopiedOnTheirWay) {
  const Schedule schedule = schedule_of(Collective::all_reduce, "multicast_two_shot", 4);
  const Answer answer = run(schedule, star(4, 10, 1), {.count = 4000, .staged = false});
  EXPECT_TRUE(answer.checked);
  EXPECT_NEAR(answer.links[0].bytes, 5000, 1e-6);
  EXPECT_GT(answer.time, 5000 + 60);
  EXPECT_LT(answer.time, 5000 + 100);
}

// 1000 B through two slots of 100 B: a credit is back 50 after a part has come, so the wire is never idle; through one
// slot, each part but the first waits for that.
TEST(Transfers, ALongMessageTakesSeveralSlotsOneAfterAnother) {
  const Schedule schedule = schedule_of(Collective::scatter, "linear", 2);
  fabric::Fabric fabric = wires(2, 49, 1);
  fabric.queue = {.slots = 2, .slot_bytes = 100, .credit_bytes = 1, .long_messages = fabric::LongMessages::slots};
  const Answer two = run(schedule, fabric, {.count = 1000});
  EXPECT_DOUBLE_EQ(two.time, 1000 + 49);
  EXPECT_EQ(two.rounds, 1U);
  EXPECT_EQ(two.messages, 1U);
  EXPECT_TRUE(two.checked);
  fabric.queue.slots = 1;
  const Answer one = run(schedule, fabric, {.count = 1000});
  EXPECT_DOUBLE_EQ(one.time, 10 * (100 + 49) + 9 * 50);
  EXPECT_DOUBLE_EQ(one.shares.of(Share::peer_wait), 9 * (149 + 50));
  fabric.queue.back_pressure = fabric::BackPressure::sleep;
  fabric.queue.wake = 300;
  EXPECT_DOUBLE_EQ(run(schedule, fabric, {.count = 1000}).time, one.time + 9 * 300);
}

// Nobody takes anything before it has sent all of its own, which is longer than the slots.
TEST(Transfers, LongMessagesOfAllToAllRanksDoNotBlockEachOther) {
  fabric::Fabric fabric = wires(5, 49, 1);
  fabric.queue = {.slots = 2, .slot_bytes = 100, .credit_bytes = 1, .long_messages = fabric::LongMessages::slots};
  for (const char* name : {"ring", "recursive_doubling", "swing", "double_binary_tree"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(run(schedule_of(Collective::all_reduce, name, 4), fabric, {.count = 9999}).checked);
  }
  EXPECT_TRUE(run(schedule_of(Collective::all_to_all, "pairwise", 5), fabric, {.count = 777}).checked);
}

// Out of the memory in 5 + 500, over the wire in 1010, and in as it came out.
TEST(Transfers, AMemoryMayHaveARateForMessages) {
  fabric::Fabric fabric = wires(2, 10, 1);
  fabric.memories[0].messages = 2;
  fabric.memories[0].latency = 5;
  const Answer answer = run(schedule_of(Collective::scatter, "linear", 2), fabric, {.count = 1000});
  EXPECT_DOUBLE_EQ(answer.rank_times[1], 505 + 1010 + 505);
}

}  // namespace
}  // namespace tutti::simulate
