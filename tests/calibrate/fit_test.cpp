// SPDX-License-Identifier: Apache-2.0
// A fabric that was calibrated takes as long for what was measured as the machine has taken.
#include "calibrate/fit.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "calibrate/ping_pong.hpp"
#include "fabric/files/fabric_file.hpp"
#include "fabric/routes.hpp"
#include "simulate/simulate.hpp"

namespace tutti::calibrate {
namespace {

// Made up, with what a machine has shown: passing on takes less than taking and sending, at some sizes more.
Measurements some_measurements() {
  Measurements made;
  made.machine = "a made-up processor, 4 cores";
  made.date = "2026-01-31";
  made.places = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
  made.slots = 4;
  made.slot_bytes = 4096;
  made.call = 100;
  made.step = 40;
  made.core_switch = 600;
  made.passes = 7;
  made.steadiness = {.passes = {0, 1, 2, 3, 4, 5, 6}, .is_steady = true, .mark = 900, .least = 850, .greatest = 1000};
  made.hops = {{8, 240, 250, 300, 230}, {256, 350, 370, 310, 320}, {4096, 1200, 1400, 1300, 2200}};
  // A second swap is dearer than a list of one; small all-reduces are done in a way of their own.
  made.swaps = {{8, 230, 560, 270, 260}, {256, 330, 800, 390, 340}, {4096, 1100, 2500, 1250, 1200}};
  made.shots = {{8, 600, 540}, {256, 650, 560}, {4096, 1100, 800}, {1 << 20, 60000, 40000}};
  made.small = {{8, 200}, {256, 280}};
  made.small_end = 4096;
  made.own = {{32 << 10, 200, 0}, {256 << 10, 100, 1200}, {1 << 20, 50, 1500}};
  return made;
}

double simulated(const fabric::Fabric& fabric, Hop hop, std::uint32_t hops, std::uint64_t bytes) {
  const Result<simulate::Answer> answer =
      simulate::simulate(ping_pong(hop, hops), fabric, {.count = bytes, .check = false});
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  return answer.ok() ? answer->time : 0;
}

TEST(Fit, TheSimulatorsPingPongTakesWhatTheMachinesHasTaken) {
  const Measurements measured = some_measurements();
  const fabric::Fabric fabric = fabric_of(measured, 2);
  const auto hop_time = [&](Hop hop, std::uint64_t bytes) {
    return (simulated(fabric, hop, 8, bytes) - simulated(fabric, hop, 0, bytes)) / 8;
  };
  for (const HopTimes& hop : measured.hops) {
    SCOPED_TRACE(hop.bytes);
    // Numbers are written with four digits.
    EXPECT_NEAR(hop_time(Hop::copy, hop.bytes), hop.copy, hop.copy * 1e-3);
    EXPECT_NEAR(hop_time(Hop::fold, hop.bytes), hop.fold, hop.fold * 1e-3);
    EXPECT_NEAR(hop_time(Hop::forward, hop.bytes), hop.forward, hop.forward * 1e-3);
    EXPECT_NEAR(hop_time(Hop::fold_forward, hop.bytes), hop.fold_forward, hop.fold_forward * 1e-3);
  }
  EXPECT_NEAR(simulated(fabric, Hop::copy, 0, 8), measured.call + measured.hops[0].copy, 1);
}

double simulated(const fabric::Fabric& fabric, const Schedule& schedule, std::uint64_t bytes) {
  const Result<simulate::Answer> answer = simulate::simulate(schedule, fabric, {.count = bytes, .check = false});
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  return answer.ok() ? answer->time : 0;
}

TEST(Fit, SoDoItsSwaps) {
  const Measurements measured = some_measurements();
  const fabric::Fabric fabric = fabric_of(measured, 2);
  const auto each = [&](Again again, std::uint64_t bytes) {
    return (simulated(fabric, swap(again, 3), bytes) - simulated(fabric, swap(again, 1), bytes)) / 2;
  };
  for (const SwapTimes& swapped : measured.swaps) {
    SCOPED_TRACE(swapped.bytes);
    EXPECT_NEAR(simulated(fabric, swap(Again::fold, 0), swapped.bytes), swapped.once, swapped.once * 1e-3);
    EXPECT_NEAR(each(Again::fold, swapped.bytes), swapped.fold, swapped.fold * 1e-3);
    EXPECT_NEAR(each(Again::copy, swapped.bytes), swapped.copy, swapped.copy * 1e-3);
  }
  EXPECT_NEAR(simulated(fabric, swap(Again::fold, 1), 8), measured.swaps[0].twice, 1);
}

// The working set counts only once: 1 MiB of own bytes cost what the memory has for them, and the curves have the rest.
TEST(Fit, SoDoCallsInSymmetricMemory) {
  const Measurements measured = some_measurements();
  const fabric::Fabric fabric = fabric_of(measured, 2);
  const auto by_name = [&](Shot of, std::uint64_t bytes) {
    const Result<simulate::Answer> answer =
        simulate::simulate(shot(of), fabric, {.count = bytes, .staged = false, .check = false});
    EXPECT_TRUE(answer.ok()) << answer.status().to_string();
    EXPECT_EQ(answer->costs, "stores");
    return answer.ok() ? answer->time : 0;
  };
  for (const ShotTimes& measured_shot : measured.shots) {
    SCOPED_TRACE(measured_shot.bytes);
    EXPECT_NEAR(by_name(Shot::fold, measured_shot.bytes), measured_shot.fold, measured_shot.fold * 1e-3);
    EXPECT_NEAR(by_name(Shot::store, measured_shot.bytes), measured_shot.store, measured_shot.store * 1e-3);
  }
  Measurements without = measured;
  without.shots.clear();
  EXPECT_EQ(fabric_of(without, 2).costs.size(), 4U);
}

// The latency is no more than what such a call leaves for it, whatever hops and swaps have taken.
TEST(Fit, ShortCallsInSymmetricMemoryBoundTheLatency) {
  Measurements measured = some_measurements();
  measured.shots = {{8, 300, 280}, {256, 320, 300}};
  const fabric::Fabric fabric = fabric_of(measured, 2);
  const auto time_of = [&](Shot of, std::uint64_t bytes) {
    const auto answer = simulate::simulate(shot(of), fabric, {.count = bytes, .staged = false, .check = false});
    return answer.ok() ? answer->time : 0;
  };
  EXPECT_NEAR(time_of(Shot::fold, 8), 300, 1);
  EXPECT_NEAR(time_of(Shot::store, 8), 280, 1);
  EXPECT_NEAR(time_of(Shot::fold, 256), 320, 1);
}

// A direct schedule may send messages besides, as hierarchical does between groups.
TEST(Fit, MessagesCostTheSameInDirectSchedules) {
  const fabric::Fabric fabric = fabric_of(some_measurements(), 2);
  ASSERT_EQ(fabric.costs.size(), 5U);
  EXPECT_GT(fabric.costs[0].send_overhead, 0);
  for (const std::size_t direct : {1U, 2U}) {
    EXPECT_EQ(fabric.costs[direct].send_overhead, fabric.costs[0].send_overhead);
    EXPECT_EQ(fabric.costs[direct].receive_overhead, fabric.costs[0].receive_overhead);
    EXPECT_EQ(fabric.costs[direct].fold_forward_times.points.size(), fabric.costs[0].fold_forward_times.points.size());
  }
}

TEST(Fit, SmallExchangesTakeWhatTheRuntimesOwnWayTakes) {
  const Measurements measured = some_measurements();
  const fabric::Fabric fabric = fabric_of(measured, 2);
  const Schedule exchange = all_reduce::one_shot.make({.collective = Collective::all_reduce, .num_ranks = 2});
  for (const SmallTime& small : measured.small)
    EXPECT_NEAR(simulated(fabric, exchange, small.bytes), small.call, small.call * 1e-3) << small.bytes;
  // Longer ones are lists.
  EXPECT_NEAR(simulated(fabric, exchange, 4096), measured.swaps.back().once, 2);
  // What the runtime has no such way for is a list at any size.
  Measurements without = measured;
  without.small.clear();
  EXPECT_NEAR(simulated(fabric_of(without, 2), exchange, 8), measured.swaps.front().once, 1);
}

TEST(Fit, SoDoesItWithALargeWorkingSet) {
  const Measurements measured = some_measurements();
  const fabric::Fabric fabric = fabric_of(measured, 2);
  const OwnRate& own = measured.own.back();
  const double rounds = static_cast<double>(own.working_set) / 2 / static_cast<double>(measured.slot_bytes);
  const double time = simulated(fabric, Hop::copy, 0, own.working_set / 2) - measured.call;
  EXPECT_NEAR(time / rounds, own.exchange, own.exchange * 1e-3);
}

TEST(Fit, RanksTakeTurnsOnTheCoresThereAre) {
  const fabric::Fabric six = fabric_of(some_measurements(), 6);
  EXPECT_EQ(six.num_ranks(), 6U);
  EXPECT_EQ(six.cores.size(), 4U);
  EXPECT_EQ(six.cores[0].switch_cost, 600);
  EXPECT_EQ(fabric_of(some_measurements(), 2).cores.size(), 2U);
  EXPECT_EQ(fabric_of(some_measurements(), 1).num_ranks(), 1U);
}

double latency_between(const fabric::Fabric& fabric, std::uint32_t from, std::uint32_t to) {
  fabric::Routes routes(fabric);
  std::vector<std::uint32_t> way;
  routes.append(fabric.ranks[from].node, fabric.ranks[to].node, way);
  double latency = 0;
  for (const std::uint32_t link : way) latency += fabric.links[link].latency;
  return latency;
}

// Two packages: one of two caches with two cores each, one of a single cache.
Measurements several_distances() {
  Measurements made = some_measurements();
  made.places = {{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {3, 1, 0}, {4, 2, 1}, {5, 2, 1}};
  made.farther = {{Apart::caches, 300, 1400}, {Apart::packages, 640, 3000}};
  return made;
}

TEST(Fit, CoresAreAsFarFromEachOtherAsHopsTake) {
  const Measurements measured = several_distances();
  const fabric::Fabric six = fabric_of(measured, 6);
  const double near = latency_between(six, 0, 1);
  EXPECT_NEAR(latency_between(fabric_of(measured, 2), 0, 1), near, 1e-9);
  EXPECT_NEAR(latency_between(six, 2, 3), near, 1e-9);
  EXPECT_NEAR(latency_between(six, 4, 5), near, 1e-9);
  EXPECT_NEAR(latency_between(six, 0, 2), near + 60, 1e-9);  // 300 - 240
  EXPECT_NEAR(latency_between(six, 3, 1), near + 60, 1e-9);
  EXPECT_NEAR(latency_between(six, 0, 4), near + 400, 1e-9);
  EXPECT_NEAR(latency_between(six, 5, 3), near + 400, 1e-9);
  // A slot to a far core: what crosses the link takes as long as it took longer there, less the way.
  const auto rate = [&](double longer) { return 4096 / longer; };
  double slowest = 0;
  for (const fabric::Link& link : six.links)
    if (link.bandwidth > 0 && (slowest == 0 || link.bandwidth < slowest)) slowest = link.bandwidth;
  EXPECT_NEAR(slowest, rate(3000 - 1200 - 400), 0.01);
}

TEST(Fit, SeveralDistancesAreAFileToo) {
  const Measurements measured = several_distances();
  for (const std::uint32_t ranks : {3U, 6U, 9U}) {
    const std::string text = file_of(measured, ranks);
    const Result<fabric::Fabric> read = fabric::read_fabric(text, "machine.toml", {});
    ASSERT_TRUE(read.ok()) << read.status().to_string() << "\n" << text;
    EXPECT_EQ(read->num_ranks(), ranks);
    EXPECT_EQ(fabric::write_fabric(*read), fabric::write_fabric(fabric_of(measured, ranks)));
    EXPECT_NE(text.find("2026-01-31: a made-up processor"), std::string::npos) << text;
  }
}

TEST(Fit, WherePackagesAreAllThereIs) {
  Measurements measured = some_measurements();
  measured.places = {{0, 0, 0}, {1, 0, 0}, {2, 1, 1}, {3, 1, 1}};
  measured.farther = {{Apart::packages, 440, 1200}};
  const fabric::Fabric four = fabric_of(measured, 4);
  EXPECT_NEAR(latency_between(four, 0, 3), latency_between(four, 0, 1) + 200, 1e-9);
  for (const fabric::Link& link : four.links) EXPECT_EQ(link.bandwidth, 0);
}

TEST(Fit, TheFileIsTheFabricWithWhereItsNumbersAreFrom) {
  const Measurements measured = some_measurements();
  for (const std::uint32_t ranks : {1U, 2U, 6U}) {
    const std::string text = file_of(measured, ranks);
    const Result<fabric::Fabric> read = fabric::read_fabric(text, "machine.toml", {});
    ASSERT_TRUE(read.ok()) << read.status().to_string() << "\n" << text;
    EXPECT_EQ(fabric::write_fabric(*read), fabric::write_fabric(fabric_of(measured, ranks)));
    EXPECT_NE(text.find("`measured 2026-01-31` is of a made-up processor, 4 cores"), std::string::npos) << text;
    // Behind every number.
    std::size_t unmarked = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      const bool is_number = line.find(" = ") != std::string::npos && !line.starts_with("version") &&
                             !line.starts_with("about") && !line.starts_with("generator") &&
                             !line.starts_with("name") && !line.starts_with("channels") &&
                             line.find("unlimited") == std::string::npos;
      if (is_number && line.find("measured") == std::string::npos) ++unmarked;
    }
    EXPECT_EQ(unmarked, 0U) << text;
  }
}

TEST(Fit, SaysHowStillTheMachineKept) {
  Measurements measured = some_measurements();
  EXPECT_EQ(unsteadiness_in_words(measured), "");
  EXPECT_EQ(file_of(measured, 2).find("keep still"), std::string::npos);
  measured.passes = 12;
  measured.steadiness.greatest = 3400;
  EXPECT_EQ(unsteadiness_in_words(measured),
            "the machine did not keep still: the same call took 0.85 to 3.4 us; this is of 7 of 12 passes, in which it "
            "took 0.9 us");
  EXPECT_TRUE(file_of(measured, 2).starts_with("# The machine did not keep still: "));
  EXPECT_TRUE(fabric::read_fabric(file_of(measured, 2), "machine.toml", {}).ok());
  measured.steadiness.is_steady = false;
  EXPECT_EQ(unsteadiness_in_words(measured),
            "the machine did not keep still: the same call took 0.85 to 3.4 us, and changed within each of 12 passes");
  Measurements far = several_distances();
  EXPECT_EQ(unsteadiness_in_words(far), "");
  far.farther.back().is_steady = false;
  EXPECT_NE(unsteadiness_in_words(far).find("far cores"), std::string::npos);
}

// Whatever a noisy machine says, the file is one.
TEST(Fit, NonsenseBecomesAFabricAllTheSame) {
  Measurements measured = some_measurements();
  measured.step = 1000;
  measured.hops[1] = {256, 0, 0, 0, 0};
  measured.swaps[0] = {8, 900, 10, 5000, 6000};
  measured.swaps[2] = {4096, 0, 0, 0, 0};
  measured.small[1] = {256, 1};
  measured.own[2].exchange = 0.5;
  const Result<fabric::Fabric> read = fabric::read_fabric(file_of(measured, 2), "machine.toml", {});
  EXPECT_TRUE(read.ok()) << read.status().to_string();
}

}  // namespace
}  // namespace tutti::calibrate
