// SPDX-License-Identifier: Apache-2.0
// Every pair of choices of algorithm, parameters, ranks, root, type, operator, count, placement, memory, addresses,
// slots, sizes and places of blocks that vary, form and, together with the operator, way of walking: results are exact,
// inputs unchanged, and nothing else is touched.
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/full_name.hpp"
#include "conformance/choices.hpp"
#include "conformance/run.hpp"

namespace tutti::test {
namespace {

TEST(Conformance, HoldsForEveryPairOfChoices) {
  constexpr std::uint64_t kSeed = 1;
  const std::vector<Case> cases = thinned(Choices().covering_cases(kSeed));
  std::set<const Algorithm*> algorithms;
  for (const Case& each : cases) algorithms.insert(each.algorithm);
  EXPECT_EQ(algorithms.size(), conforming_algorithms().size());
  RecordProperty("cases", std::to_string(cases.size()));
  RecordProperty("seed", std::to_string(kSeed));
  EXPECT_EQ(run_cases(cases), "") << "something else ran than was forced";
}

// What goes wrong with blocks of different sizes goes wrong where several things meet: an empty block in front of
// others in one message, a large one among small ones, in one round or many.
TEST(Conformance, HoldsForEverySizeOfBlocksInEveryAlgorithm) {
  std::vector<Case> cases;
  for (const Algorithm* algorithm : conforming_algorithms()) {
    if (!facts_of(algorithm->collective).varies) continue;
    for (std::uint32_t ranks = 1; ranks <= 9; ++ranks)
      for (const Sizes sizes : {Sizes::alike, Sizes::uneven, Sizes::some_empty, Sizes::one_large})
        for (const std::uint64_t count : {5U, 3000U}) {
          const std::size_t turn = cases.size();
          cases.push_back({.algorithm = algorithm,
                           .way = full_name(*algorithm, requests_of(*algorithm, ranks)[0]),
                           .num_ranks = ranks,
                           .root = facts_of(algorithm->collective).has_root ? ranks / 2 : 0,
                           .type = Type::i32,
                           .count = count,
                           .in_place = turn / 2 % 2 == 1,
                           .walker = turn % 2 == 1 ? WalkerChoice::generic : WalkerChoice::automatic,
                           .seed = turn,
                           .sizes = sizes,
                           .spread = static_cast<Spread>(turn / 3 % 4),
                           .form = static_cast<Form>(turn / 5 % 3)});
        }
  }
  EXPECT_EQ(run_cases(thinned(std::move(cases))), "") << "something else ran than was forced";
}

}  // namespace
}  // namespace tutti::test
