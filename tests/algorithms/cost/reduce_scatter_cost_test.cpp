// SPDX-License-Identifier: Apache-2.0
// Costs of the reduce-scatters against their closed forms, and the scratch that they ask for.
#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "halving_path.hpp"
#include "schedule/cost.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti {
namespace {

using Count = std::uint32_t (*)(std::uint32_t num_ranks);

std::uint32_t binary_digits(std::uint32_t n) { return static_cast<std::uint32_t>(std::bit_width(n - 1)); }
std::uint32_t all_others(std::uint32_t n) { return n - 1; }
std::uint32_t none(std::uint32_t) { return 0; }
// A block for each place that may be a parent.
std::uint32_t even_places(std::uint32_t n) { return n <= 2 ? 0 : (n + 1) / 2; }

struct Form {
  Collective collective;
  std::string_view name;
  Count messages;  // of each rank
  Count path;      // and roundings: every message is folded into something
  Count scratch;
};

// Every rank sends each partial sum but its own once, and receives as many.
constexpr Form kForms[] = {
    {Collective::reduce_scatter, "ring", all_others, all_others, none},
    {Collective::reduce_scatter_v, "ring", all_others, all_others, none},
    {Collective::reduce_scatter, "pat", binary_digits, binary_digits, even_places},
};

TEST(ReduceScatterCost, EveryPartialSumGoesOnce) {
  for (const Form& form : kForms) {
    for (std::uint32_t n = 1; n <= 18; ++n) {
      SCOPED_TRACE(testing::Message() << form.name << " of " << n << " ranks");
      const Schedule schedule =
          find_algorithm(form.collective, form.name)->make({.collective = form.collective, .num_ranks = n});
      const Cost cost = cost_of(schedule);
      for (const RankCost& rank : cost.ranks) {
        EXPECT_EQ(rank.messages, form.messages(n));
        EXPECT_EQ(rank.pieces_out(), n - 1);
        EXPECT_EQ(rank.pieces_in(), n - 1);
      }
      EXPECT_EQ(cost.longest_path, form.path(n));
      EXPECT_EQ(cost.roundings, form.path(n));
      EXPECT_EQ(schedule.division(Space::scratch).blocks, form.scratch(n));
    }
  }
}

TEST(ReduceScatterCost, RecursiveHalvingSendsAsMuchOnTheAverage) {
  for (std::uint32_t n = 1; n <= 33; ++n) {
    SCOPED_TRACE(testing::Message() << n << " ranks");
    const Schedule schedule =
        reduce_scatter::recursive_halving.make({.collective = Collective::reduce_scatter, .num_ranks = n});
    const Cost cost = cost_of(schedule);
    EXPECT_EQ(cost.longest_path, halving_path(n));
    EXPECT_LE(cost.longest_path, binary_digits(n));
    EXPECT_EQ(cost.roundings, binary_digits(n));
    EXPECT_EQ(cost.total.pieces_out(), n * (n - 1));
    for (const RankCost& rank : cost.ranks) {
      EXPECT_EQ(rank.pieces_out(), n - 1) << "whoever keeps more folds more";
      EXPECT_LE(rank.messages, binary_digits(n));
    }
    EXPECT_LE(cost.most.pieces_in(), 2 * (n - 1));
    if (std::has_single_bit(n)) {
      EXPECT_EQ(cost.total.messages, n * binary_digits(n));
      EXPECT_EQ(cost.most.pieces_in(), n - 1);
      EXPECT_EQ(cost.most.steps, std::max(1U, 2 * binary_digits(n)));
    }
    EXPECT_EQ(schedule.division(Space::scratch).blocks, n <= 2 ? 0 : (n + 1) / 2);
    const Proof proof = prove(schedule);
    EXPECT_LE(proof.order, OrderClass::uniform);
    EXPECT_LE(proof.least_depth, 1U);
    EXPECT_LE(proof.least_depth_fused, 1U);
  }
}

TEST(ReduceScatterCost, DirectReadsEverybodyOnceAndRoundsOnce) {
  for (const Collective collective : {Collective::reduce_scatter, Collective::reduce_scatter_v}) {
    for (std::uint32_t n = 1; n <= 17; ++n) {
      const Schedule schedule = find_algorithm(collective, "direct")->make({.collective = collective, .num_ranks = n});
      const Cost cost = cost_of(schedule);
      EXPECT_EQ(cost.total.messages, 0U);
      for (const RankCost& rank : cost.ranks) EXPECT_EQ(rank.pieces_in(), n - 1);
      EXPECT_EQ(cost.longest_path, n > 1 ? 1U : 0U);
      EXPECT_EQ(cost.roundings, n > 1 ? 1U : 0U);
      EXPECT_EQ(cost.most.steps, n + 1);
      const Proof proof = prove(schedule);
      EXPECT_EQ(proof.order, OrderClass::ordered);
      EXPECT_EQ(proof.least_slots, n - 1) << "its own block is for nobody else";
      EXPECT_EQ(proof.in_place.exposure, n > 1 ? Exposure::name_safe : Exposure::none);
    }
  }
}

}  // namespace
}  // namespace tutti
