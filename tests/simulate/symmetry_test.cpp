// SPDX-License-Identifier: Apache-2.0
// Where ranks are alike, those that stand for all give what all of them walked give.
#include "simulate/engine/symmetry.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "fabric/generators/generate.hpp"
#include "simulate/simulate.hpp"

namespace tutti::simulate {
namespace {

fabric::Fabric fabric_of(const std::string& words) {
  Result<fabric::Fabric> made = fabric::generate(words);
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  made->costs[0].send_overhead = 120;
  made->costs[0].receive_overhead = 80;
  return *std::move(made);
}

TEST(Symmetry, AFewRanksSayWhatAllSay) {
  std::set<std::string> alike;
  for (const char* words :
       {"ring_1d:12", "torus_2d:4x3", "torus_2d:3x4", "torus_3d:2x2x3", "switch:12",
        "ring_1d:12,queue_slots=2,queue_slot_bytes=300,queue_credit_bytes=16,queue_long_messages=slots"}) {
    const fabric::Fabric fabric = fabric_of(words);
    for (const Algorithm* algorithm : all_algorithms()) {
      if (facts_of(algorithm->collective).varies || algorithm->channel == Channel::multicast) continue;
      for (const Request& request : cases_of(*algorithm, 12, {.root = 0, .seed = 1})) {
        const Schedule schedule = algorithm->make(request);
        Options options{.count = 36'000, .staged = algorithm->channel == Channel::staged};
        options.alike = Alike::always;
        const Result<Answer> one = simulate(schedule, fabric, options);
        ASSERT_TRUE(one.ok()) << one.status().to_string();
        if (one->ranks_walked == 12) continue;
        alike.insert(std::string(words) + " " + std::string(algorithm->name));
        options.alike = Alike::never;
        const Result<Answer> all = simulate(schedule, fabric, options);
        ASSERT_TRUE(all.ok()) << all.status().to_string();
        SCOPED_TRACE(std::string(words) + " " + schedule.name);
        EXPECT_NEAR(one->time, all->time, all->time * 1e-9);
        EXPECT_EQ(one->messages, all->messages);
        EXPECT_TRUE(all->checked);
        for (std::uint32_t rank = 0; rank < 12; ++rank)
          EXPECT_NEAR(one->rank_times[rank], all->rank_times[rank], all->time * 1e-9);
        for (std::size_t link = 0; link < fabric.links.size(); ++link)
          EXPECT_NEAR(one->links[link].bytes, all->links[link].bytes, 1e-3) << link;
      }
    }
  }
  for (const char* expected :
       {"ring_1d:12 ring", "ring_1d:12 ring_bidirectional", "switch:12 ring", "torus_2d:4x3 bucket_2d",
        "torus_3d:2x2x3 bucket_3d", "ring_1d:12 bruck", "ring_1d:12 pairwise"})
    EXPECT_TRUE(alike.count(expected)) << expected;
  // Each rank has partners of its own in these, which no translation makes the same.
  EXPECT_FALSE(alike.count("switch:12 recursive_doubling"));
  EXPECT_FALSE(alike.count("switch:12 knomial"));
}

// Messages half-way around go by the parity of where they begin, so that every second rank along each dimension is
// alike.
TEST(Symmetry, HalfWayAroundEverySecondRankIsAlike) {
  struct Walked {
    const char* words;
    const char* algorithm;
    std::uint32_t ranks;
  };
  for (const Walked& walked :
       {Walked{"ring_1d:16", "bruck", 2}, Walked{"ring_1d:16", "pairwise", 2}, Walked{"ring_1d:15", "pairwise", 1},
        Walked{"switch:16", "pairwise", 1},
        Walked{"ring_1d:16,queue_slots=1,queue_slot_bytes=500,queue_credit_bytes=16", "bruck", 2}}) {
    SCOPED_TRACE(testing::Message() << walked.algorithm << " on " << walked.words);
    const fabric::Fabric fabric = fabric_of(walked.words);
    const Schedule schedule = find_algorithm(Collective::all_to_all, walked.algorithm)
                                  ->make({.collective = Collective::all_to_all, .num_ranks = fabric.num_ranks()});
    const Answer few = *simulate(schedule, fabric, {.count = 3000, .alike = Alike::always});
    const Answer all = *simulate(schedule, fabric, {.count = 3000, .alike = Alike::never});
    EXPECT_EQ(few.ranks_walked, walked.ranks);
    EXPECT_EQ(few.rounds, all.rounds);
    EXPECT_EQ(few.messages, all.messages);
    EXPECT_NEAR(few.time, all.time, all.time * 1e-9);
  }
}

TEST(Symmetry, OneSlowerLinkEndsIt) {
  fabric::Fabric fabric = fabric_of("ring_1d:12");
  fabric.links[7].latency *= 2;
  Request request;
  request.num_ranks = 12;
  const Schedule schedule = find_algorithm(Collective::all_reduce, "ring")->make(request);
  EXPECT_EQ(simulate(schedule, fabric, {.count = 12, .alike = Alike::always})->ranks_walked, 12U);
}

// 12 pieces of 13 elements are not all alike.
TEST(Symmetry, PiecesOfDifferentLengthsEndIt) {
  const fabric::Fabric fabric = fabric_of("ring_1d:12");
  Request request;
  request.num_ranks = 12;
  const Schedule schedule = find_algorithm(Collective::all_reduce, "ring")->make(request);
  EXPECT_EQ(simulate(schedule, fabric, {.count = 13, .alike = Alike::always})->ranks_walked, 12U);
}

// Three thirds of 64 chunks each: the last piece is the only short one.
TEST(Symmetry, PiecesThatAreHardlyShorterAreTakenToBeWhole) {
  const fabric::Fabric fabric = fabric_of("torus_3d:4x4x4");
  const Schedule schedule =
      find_algorithm(Collective::all_reduce, "bucket_3d")->make({.num_ranks = 64, .parameters = {.grid = {4, 4, 4}}});
  const auto simulated = [&](std::uint64_t count, Alike alike) {
    return *simulate(schedule, fabric, {.count = count, .alike = alike});
  };
  constexpr std::uint64_t kWhole = std::uint64_t{3} * 64 * 1000;
  const Answer whole = simulated(kWhole, Alike::always);
  const Answer shorter = simulated(kWhole - 100, Alike::always);
  const Answer all = simulated(kWhole - 100, Alike::never);
  EXPECT_EQ(whole.ranks_walked, 1U);
  EXPECT_EQ(shorter.ranks_walked, 1U);
  EXPECT_EQ(shorter.time, whole.time);
  EXPECT_EQ(shorter.messages, all.messages);
  EXPECT_NEAR(shorter.time, all.time, all.time / 100);
  EXPECT_EQ(simulated(860, Alike::always).ranks_walked, 64U) << "with 960, and that is too many more";
}

// Whether few ranks for all give what all give, on fabrics whose ways are not alike where two are as long.
TEST(Symmetry, IsNoneWhereWaysAreNotAlike) {
  fabric::Fabric without_routes = fabric_of("ring_1d:4");
  without_routes.next_link = {};
  for (const fabric::Fabric& fabric : {fabric_of("torus_2d:2x4"), fabric_of("ring_1d:8"), without_routes}) {
    for (const Algorithm* algorithm : all_algorithms()) {
      if (facts_of(algorithm->collective).varies || algorithm->channel != Channel::message) continue;
      for (const Request& request : cases_of(*algorithm, fabric.num_ranks(), {.root = 0})) {
        const Schedule schedule = algorithm->make(request);
        const std::uint64_t count = std::uint64_t{3000} * fabric.num_ranks();
        const Result<Answer> one = simulate(schedule, fabric, {.count = count, .alike = Alike::always});
        const Result<Answer> all = simulate(schedule, fabric, {.count = count, .alike = Alike::never});
        ASSERT_TRUE(one.ok() && all.ok());
        EXPECT_NEAR(one->time, all->time, all->time * 1e-9) << fabric.name << " " << schedule.name;
      }
    }
  }
}

}  // namespace
}  // namespace tutti::simulate
