// Every pair of choices of algorithm, parameters, ranks, root, type, operator, count, placement, memory, addresses,
// slots and, together with the operator, way of walking: results are exact, inputs unchanged, and nothing else is
// touched.
#include <gtest/gtest.h>

#include "conformance/choices.hpp"
#include "conformance/run.hpp"

namespace tutti::test {
namespace {

TEST(Conformance, HoldsForEveryPairOfChoices) {
  constexpr std::uint64_t kSeed = 1;
  const std::vector<Case> cases = Choices().covering_cases(kSeed);
  RecordProperty("cases", std::to_string(cases.size()));
  RecordProperty("seed", std::to_string(kSeed));
  EXPECT_EQ(run_cases(cases), "") << "something else ran than was forced";
}

}  // namespace
}  // namespace tutti::test
