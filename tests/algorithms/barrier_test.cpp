// SPDX-License-Identifier: Apache-2.0
// Barriers: their costs against closed forms, and that prove refuses one that forgets a rank.
#include <algorithm>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "schedule/cost.hpp"
#include "schedule/listed.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti {
namespace {

Schedule dissemination(std::uint32_t n, std::uint32_t radix) {
  Request request{.collective = Collective::barrier, .num_ranks = n};
  request.parameters.radix = radix;
  return barrier::dissemination.make(request);
}

TEST(Barrier, DisseminationHasAPhaseForEachDigit) {
  for (std::uint32_t radix = 2; radix <= 20; ++radix) {
    for (std::uint32_t n = 1; n <= 33; ++n) {
      SCOPED_TRACE(testing::Message() << n << " ranks, radix " << radix);
      std::uint32_t phases = 0;
      std::uint32_t messages = 0;
      for (std::uint32_t heard = 1; heard < n; heard *= radix) {
        ++phases;
        // As many as it takes to hear of radix times as many ranks, or of all.
        messages += std::min(radix - 1, (n - 1) / heard);
      }
      const Cost cost = cost_of(dissemination(n, radix));
      EXPECT_EQ(cost.longest_path, phases);
      for (const RankCost& rank : cost.ranks) {
        EXPECT_EQ(rank.messages, messages);
        EXPECT_EQ(rank.steps, 2 * messages);
      }
    }
  }
}

TEST(Barrier, DirectIsOneStoreAndOneLookAtAllOthers) {
  for (std::uint32_t n = 1; n <= 17; ++n) {
    const Cost cost = cost_of(barrier::direct.make({.collective = Collective::barrier, .num_ranks = n}));
    EXPECT_EQ(cost.total.messages, 0U);
    EXPECT_EQ(cost.most.steps, n > 1 ? 2U : 1U);
    EXPECT_EQ(cost.longest_path, n > 1 ? 1U : 0U);
  }
}

TEST(Barrier, WithoutItsLastPhaseItIsNone) {
  for (const std::uint32_t n : {2U, 3U, 5U, 8U}) {
    const Schedule whole = dissemination(n, 2);
    ASSERT_TRUE(prove(whole).ok());
    std::vector<Program> programs = programs_of(whole);
    for (Program& program : programs) program.lanes[0].resize(program.lanes[0].size() - 2);
    const Proof proof = prove(listed(whole, programs));
    ASSERT_FALSE(proof.ok()) << n;
    EXPECT_EQ(proof.failure->fault, Fault::missing);
  }
}

TEST(Barrier, DirectWithoutOneRankIsNone) {
  const Schedule whole = barrier::direct.make({.collective = Collective::barrier, .num_ranks = 4});
  std::vector<Program> programs = programs_of(whole);
  programs[2].lanes[0][1].peers.pop_back();
  const Proof proof = prove(listed(whole, programs));
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.failure->rank, 2U);
}

}  // namespace
}  // namespace tutti
