// SPDX-License-Identifier: Apache-2.0
// Costs of the all-gathers against their closed forms.
#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "closed_forms.hpp"
#include "halving_path.hpp"
#include "schedule/cost.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti {
namespace {

using Count = std::uint32_t (*)(std::uint32_t num_ranks);

std::uint32_t steps_of_a_direction(std::uint32_t distance) { return distance == 0 ? 0 : distance + 1; }

// Messages are those of each rank, steps of the rank that has most, neighbours fused; path is how many messages follow
// each other.
struct Form {
  Collective collective;
  std::string_view name;
  Count messages;
  Count path;
  Count steps;
};

std::uint32_t phases(std::uint32_t n) { return closed_forms::num_levels(n, 2); }
// A message out and one in for each phase; the first one out is one step with the copy.
std::uint32_t phase_steps(std::uint32_t n) { return std::max(1U, 2 * phases(n)); }
std::uint32_t both_directions(std::uint32_t n) { return n / 2 + 1 + steps_of_a_direction((n - 1) / 2); }
std::uint32_t itself(std::uint32_t n) { return n; }
std::uint32_t all_others(std::uint32_t n) { return n - 1; }
std::uint32_t half(std::uint32_t n) { return n / 2; }

// Every rank receives each block once, and sends as many.
constexpr Form kForms[] = {
    {Collective::all_gather, "ring", all_others, all_others, itself},
    {Collective::all_gather_v, "ring", all_others, all_others, itself},
    {Collective::all_gather, "ring_bidirectional", all_others, half, both_directions},
    {Collective::all_gather, "neighbour_exchange", all_others, half, itself},
    {Collective::all_gather, "bruck", phases, phases, phase_steps},
    {Collective::all_gather_v, "bruck", phases, phases, phase_steps},
    {Collective::all_gather, "pat", phases, phases, phase_steps},
};

TEST(AllGatherCost, EveryBlockComesOnce) {
  for (const Form& form : kForms) {
    for (std::uint32_t n = 1; n <= 18; ++n) {
      SCOPED_TRACE(testing::Message() << form.name << " of " << n << " ranks");
      const Algorithm& algorithm = *find_algorithm(form.collective, form.name);
      const Request request{.collective = form.collective, .num_ranks = n};
      if (!objection_to(algorithm, request).empty()) continue;
      const Cost cost = cost_of(algorithm.make(request));
      for (const RankCost& rank : cost.ranks) {
        EXPECT_EQ(rank.messages, form.messages(n));
        EXPECT_EQ(rank.pieces_out(), n - 1);
        EXPECT_EQ(rank.pieces_in(), n - 1);
      }
      EXPECT_EQ(cost.longest_path, form.path(n));
      EXPECT_EQ(cost.most.steps, form.steps(n));
    }
  }
}

TEST(AllGatherCost, RecursiveDoublingSendsAsMuchOnTheAverage) {
  for (std::uint32_t n = 1; n <= 33; ++n) {
    SCOPED_TRACE(testing::Message() << n << " ranks");
    const Cost cost =
        cost_of(all_gather::recursive_doubling.make({.collective = Collective::all_gather, .num_ranks = n}));
    EXPECT_EQ(cost.longest_path, halving_path(n));
    EXPECT_LE(cost.longest_path, phases(n));
    EXPECT_EQ(cost.total.pieces_out(), n * (n - 1));
    for (const RankCost& rank : cost.ranks) EXPECT_EQ(rank.pieces_in(), n - 1);
    EXPECT_LE(cost.most.messages, 2 * phases(n));
    EXPECT_LE(cost.most.pieces_out(), 2 * (n - 1));
    if (std::has_single_bit(n)) {
      EXPECT_EQ(cost.most.messages, phases(n));
      EXPECT_EQ(cost.most.pieces_out(), n - 1);
    }
  }
}

TEST(AllGatherCost, BruckHasAPhaseForEachDigit) {
  for (std::uint32_t radix = 2; radix <= 20; ++radix) {
    for (std::uint32_t n = 1; n <= 18; ++n) {
      const Cost cost = closed_forms::cost(Collective::all_gather, "bruck", {.ranks = n, .radix = radix});
      EXPECT_EQ(cost.longest_path, closed_forms::num_levels(n, radix)) << n << " ranks, radix " << radix;
      for (const RankCost& rank : cost.ranks) {
        EXPECT_EQ(rank.messages, closed_forms::num_partners_of_root(n, radix));
        EXPECT_EQ(rank.pieces_out(), n - 1);
      }
    }
  }
}

// The blocks that rank 0 sends, by how far to the right they go.
std::vector<std::uint32_t> blocks_by_distance(const Schedule& schedule) {
  std::vector<std::uint32_t> blocks(schedule.num_ranks);
  for (const auto& lane : collect(schedule, 0, Fusion::none).lanes)
    for (const Step& step : lane)
      for (const Endpoint& end : step.destinations)
        if (end.place == Place::message) blocks[end.rank] += end.slice.num_blocks;
  return blocks;
}

TEST(AllGatherCost, PatSendsFewBlocksFarWhereBruckSendsMany) {
  const auto of = [](const Algorithm& algorithm) {
    return blocks_by_distance(algorithm.make({.collective = Collective::all_gather, .num_ranks = 16}));
  };
  std::vector<std::uint32_t> expected(16);
  expected[1] = 8;
  expected[2] = 4;
  expected[4] = 2;
  expected[8] = 1;
  EXPECT_EQ(of(all_gather::pat), expected);
  std::vector<std::uint32_t> backwards(16);
  backwards[16 - 1] = 1;
  backwards[16 - 2] = 2;
  backwards[16 - 4] = 4;
  backwards[16 - 8] = 8;
  EXPECT_EQ(of(all_gather::bruck), backwards);
}

TEST(AllGatherCost, DirectReadsEverybodyOnce) {
  for (const Collective collective : {Collective::all_gather, Collective::all_gather_v}) {
    for (std::uint32_t n = 1; n <= 17; ++n) {
      const Schedule schedule = find_algorithm(collective, "direct")->make({.collective = collective, .num_ranks = n});
      const Cost cost = cost_of(schedule);
      EXPECT_EQ(cost.total.messages, 0U);
      for (const RankCost& rank : cost.ranks) EXPECT_EQ(rank.pieces_in(), n - 1);
      EXPECT_EQ(cost.longest_path, n > 1 ? 1U : 0U);
      EXPECT_EQ(cost.most.steps, n + 2);
      const Proof proof = prove(schedule);
      EXPECT_EQ(proof.out_of_place.exposure, Exposure::name_safe);
      EXPECT_EQ(proof.in_place.exposure, Exposure::name_safe);
    }
  }
}

TEST(AllGather, NeighbourExchangeObjectsToOddNumbers) {
  EXPECT_EQ(objection_to(all_gather::neighbour_exchange, {.collective = Collective::all_gather, .num_ranks = 6}), "");
  EXPECT_NE(objection_to(all_gather::neighbour_exchange, {.collective = Collective::all_gather, .num_ranks = 7}), "");
}

}  // namespace
}  // namespace tutti
