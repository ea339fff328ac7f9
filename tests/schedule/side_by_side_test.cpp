// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/side_by_side.hpp"

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti {
namespace {

TEST(SideBySide, EveryAlgorithmByMessagesIsRightInParts) {
  int proven = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->channel != Channel::message || facts_of(algorithm->collective).varies) continue;
    if (algorithm->collective == Collective::barrier) continue;
    for (const std::uint32_t num_ranks : {2U, 3U, 4U, 6U}) {
      const Cases cases = find_cases(*algorithm, num_ranks);
      if (cases.requests.empty()) continue;
      const Schedule whole = algorithm->make(cases.requests.front());
      const Schedule made = side_by_side(whole, 3);
      SCOPED_TRACE(made.name + " of " + std::string(name_of(made.collective)));
      const Proof proof = prove(made);
      EXPECT_TRUE(proof.ok()) << (proof.ok() ? std::string() : proof.failure->to_string());
      EXPECT_EQ(made.num_lanes, 3 * whole.num_lanes);
      EXPECT_EQ(made.division(Space::output).pieces, 3 * whole.division(Space::output).pieces);
      ++proven;
    }
  }
  EXPECT_GE(proven, 100);
}

TEST(SideBySide, PartsHaveTheirOwnPiecesAndConnections) {
  const Schedule ring = all_reduce::ring.make({.collective = Collective::all_reduce, .num_ranks = 2});
  Walk walk = side_by_side(ring, 2).walk(0, 1);
  const Step* step = walk.next();
  ASSERT_NE(step, nullptr);
  ASSERT_EQ(step->destinations.size(), 1U);
  EXPECT_EQ(step->destinations[0].channel, 1U);
  EXPECT_EQ(step->sources[0].slice.first_piece / 2, 1U);  // the second half of the pieces
  EXPECT_EQ(side_by_side(ring, 1).name, ring.name);
}

}  // namespace
}  // namespace tutti
