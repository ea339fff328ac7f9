// SPDX-License-Identifier: Apache-2.0
// The whole product of algorithm, ranks, type, operator, placement and count, large counts thinned; everything else is
// drawn for each case: parameters, root, memory, addresses, way of walking, slots, how blocks vary, form.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "conformance/choices.hpp"
#include "conformance/run.hpp"

namespace tutti::test {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 29;  // of one case

class Whole : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] std::size_t draw(std::size_t below) { return random_() % below; }

  // Whether one of so many is to be run.
  [[nodiscard]] bool is_kept(const CoveringRow& row, const Case& each) {
    if (bytes_of(each) > kMostBytes) return false;
    // By level of kCount: 4 Mi elements are what most of the time would go to.
    constexpr std::size_t kOneOf[] = {1, 1, 1, 1, 1, 2, 16, 1024};
    return draw(kOneOf[row[kCount]] * TUTTI_THINNING) == 0;
  }

  // Draws again where choices are in conflict; nothing where those that are given are.
  [[nodiscard]] bool complete(CoveringRow& row) {
    const auto has_conflict = [&](std::size_t factor) {
      for (std::size_t other = 0; other < kNumFactors; ++other)
        if (other != factor && choices_.in_conflict({factor, row[factor]}, {other, row[other]})) return true;
      return false;
    };
    for (const Factor drawn : {kParameters, kRoot, kMemory, kAddresses, kSlot, kSizes, kSpread, kForm}) {
      row[drawn] = draw(choices_.levels()[drawn]);
      if (choices_.in_conflict({kAlgorithm, row[kAlgorithm]}, {drawn, row[drawn]}))
        row[drawn] = row[drawn] == 0 ? 1 : 0;
    }
    for (std::size_t factor = 0; factor < kNumFactors; ++factor)
      if (has_conflict(factor)) return false;
    return true;
  }

  Choices choices_;
  std::mt19937_64 random_{kSeed + GetParam()};
};

TEST_P(Whole, IsExact) {
  const std::vector<std::size_t>& levels = choices_.levels();
  std::size_t total = 0;
  for (std::size_t ranks = 0; ranks < levels[kRanks]; ++ranks) {
    std::vector<Case> cases;
    CoveringRow row(kNumFactors, 0);
    row[kAlgorithm] = GetParam();
    row[kRanks] = ranks;
    if (choices_.in_conflict({kAlgorithm, GetParam()}, {kRanks, ranks})) continue;
    for (row[kType] = 0; row[kType] < levels[kType]; ++row[kType])
      for (int op = 0; op < kNumOps; ++op)
        for (row[kPlacement] = 0; row[kPlacement] < levels[kPlacement]; ++row[kPlacement])
          for (row[kCount] = 0; row[kCount] < levels[kCount]; ++row[kCount]) {
            row[kFolding] = folding(static_cast<Op>(op), draw(kNumWalks));
            if (!complete(row)) continue;
            const Case each = choices_.case_of(row, kSeed + cases.size());
            if (is_kept(row, each)) cases.push_back(each);
          }
    EXPECT_EQ(run_cases(cases), "") << "something else ran than was forced";
    if (HasFailure()) return;
    total += cases.size();
  }
  RecordProperty("cases", std::to_string(total));
}

std::string name_of_algorithm(const testing::TestParamInfo<std::size_t>& info) {
  const Algorithm& algorithm = *conforming_algorithms()[info.param];
  return std::string(name_of(algorithm.collective)) + "_by_" + std::string(algorithm.name);
}

INSTANTIATE_TEST_SUITE_P(Product, Whole, testing::Range(std::size_t{0}, conforming_algorithms().size()),
                         name_of_algorithm);

}  // namespace
}  // namespace tutti::test
