// SPDX-License-Identifier: Apache-2.0
// The exact inputs against the kernels: whatever order and brackets, the result is the predicted one, bit for bit.
#include "data/exact.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::size_t kOffset = 77;
constexpr std::size_t kCount = 2500;  // more than two periods

using Bytes = std::vector<std::uint8_t>;

void add(const Operator& op, Bytes& accumulated, const Bytes& next, std::uint32_t raw_source, bool final) {
  void* const destination = accumulated.data();
  const std::array<const void*, 2> sources = {accumulated.data(), next.data()};
  reduce_kernel(op.type, op.op, false)(op, {.destinations = &destination,
                                            .num_destinations = 1,
                                            .sources = sources.data(),
                                            .num_sources = 2,
                                            .count = kCount,
                                            .raw_source = raw_source,
                                            .final = final});
}

// Each rank's input after its first touch.
std::vector<Bytes> contributions(const ExactInput& input) {
  std::vector<Bytes> result;
  for (int rank = 0; rank < input.num_ranks; ++rank) {
    Bytes values(kCount * size_of(input.type));
    exact_fill(input, rank, kOffset, kCount, values.data());
    Bytes touched(values.size());
    first_touch_copy(exact_operator(input, rank), touched.data(), values.data(), kCount, false);
    result.push_back(std::move(touched));
  }
  return result;
}

void expect_any_order_gives_the_prediction(const ExactInput& input) {
  Bytes want(kCount * size_of(input.type));
  exact_expected(input, kOffset, kCount, want.data());
  const std::vector<Bytes> inputs = contributions(input);
  const Operator op = exact_operator(input, 0);
  const std::size_t ranks = inputs.size();

  // One after the other, from a rank in the middle and round.
  Bytes round = inputs[ranks / 2];
  for (std::size_t i = 1; i < ranks; ++i) {
    add(op, round, inputs[(ranks / 2 + i) % ranks], kNoSource, i + 1 == ranks);
  }
  EXPECT_EQ(round, want) << "one after the other";

  // In pairs, pairs of pairs, and so on.
  std::vector<Bytes> tree = inputs;
  for (std::size_t stride = 1; stride < ranks; stride *= 2) {
    for (std::size_t i = 0; i + stride < ranks; i += 2 * stride) {
      add(op, tree[i], tree[i + stride], kNoSource, 2 * stride >= ranks);
    }
  }
  EXPECT_EQ(tree[0], want) << "as a tree";
}

std::vector<Type> all_types() {
  std::vector<Type> types;
  types.reserve(kNumTypes);
  for (int i = 0; i < kNumTypes; ++i) types.push_back(static_cast<Type>(i));
  return types;
}

class Exact : public testing::TestWithParam<Type> {};

TEST_P(Exact, AnyOrderGivesThePrediction) {
  for (int i = 0; i < kNumOps; ++i) {
    const auto op = static_cast<Op>(i);
    if (op == Op::user || !is_defined(op, GetParam())) continue;
    for (const int num_ranks : {2, 3, 8, 40, 300}) {
      SCOPED_TRACE(std::string(name_of(op)) + " " + std::to_string(num_ranks));
      expect_any_order_gives_the_prediction({.type = GetParam(), .op = op, .num_ranks = num_ranks, .seed = 5});
    }
  }
}

TEST_P(Exact, TheFirstRanksGiveWhatAScanDoes) {
  for (int i = 0; i < kNumOps; ++i) {
    const auto op = static_cast<Op>(i);
    if (op == Op::user || op == Op::average || !is_defined(op, GetParam())) continue;
    SCOPED_TRACE(std::string(name_of(op)));
    const ExactInput input = {.type = GetParam(), .op = op, .num_ranks = 7, .seed = 6};
    const std::vector<Bytes> inputs = contributions(input);
    Bytes scanned = inputs[0];
    Bytes want(scanned.size());
    for (std::size_t ranks = 1; ranks <= inputs.size(); ++ranks) {
      if (ranks > 1) add(exact_operator(input, 0), scanned, inputs[ranks - 1], kNoSource, false);
      exact_expected_of_first(input, static_cast<int>(ranks), kOffset, kCount, want.data());
      EXPECT_EQ(scanned, want) << ranks << " ranks";
    }
  }
}

TEST_P(Exact, EveryRankMatters) {
  // Leaving out any one rank, or taking its neighbour's input for it, changes a sum.
  for (const int num_ranks : {2, 7, 100}) {
    const ExactInput input = {.type = GetParam(), .op = Op::sum, .num_ranks = num_ranks, .seed = 9};
    const std::vector<Bytes> inputs = contributions(input);
    for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
      EXPECT_NE(inputs[rank], Bytes(inputs[rank].size())) << rank;
      EXPECT_NE(inputs[rank], inputs[(rank + 1) % inputs.size()]) << rank;
    }
  }
}

TEST_P(Exact, PiecesFitTogether) {
  const ExactInput input = {.type = GetParam(), .op = Op::sum, .num_ranks = 3, .seed = 1};
  const std::size_t size = size_of(GetParam());
  Bytes whole(4000 * size);
  Bytes piece(900 * size);
  exact_fill(input, 1, 0, 4000, whole.data());
  exact_fill(input, 1, 1500, 900, piece.data());
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + static_cast<std::ptrdiff_t>(1500 * size)));
  exact_expected(input, 0, 4000, whole.data());
  exact_expected(input, 1500, 900, piece.data());
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + static_cast<std::ptrdiff_t>(1500 * size)));
}

TEST_P(Exact, SeedsDiffer) {
  Bytes a(kCount * size_of(GetParam()));
  Bytes b(a.size());
  exact_fill({.type = GetParam(), .num_ranks = 2, .seed = 1}, 0, 0, kCount, a.data());
  exact_fill({.type = GetParam(), .num_ranks = 2, .seed = 2}, 0, 0, kCount, b.data());
  EXPECT_NE(a, b);
}

INSTANTIATE_TEST_SUITE_P(Types, Exact, testing::ValuesIn(all_types()),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST(ExactUser, RanksInOrderAndOnlyInOrder) {
  const ExactInput input = {.type = Type::u64, .op = Op::user, .num_ranks = 6, .seed = 3};
  Bytes want(kCount * 8);
  exact_expected(input, kOffset, kCount, want.data());
  const std::vector<Bytes> inputs = contributions(input);
  const Operator op = exact_operator(input, 0);
  Bytes forward = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) add(op, forward, inputs[i], kNoSource, false);
  EXPECT_EQ(forward, want);
  Bytes left = inputs[0];
  Bytes right = inputs[3];
  for (const std::size_t i : {1U, 2U}) add(op, left, inputs[i], kNoSource, false);
  for (const std::size_t i : {4U, 5U}) add(op, right, inputs[i], kNoSource, false);
  add(op, left, right, kNoSource, false);
  EXPECT_EQ(left, want) << "brackets are free";
  Bytes swapped = inputs[1];
  add(op, swapped, inputs[0], kNoSource, false);
  for (std::size_t i = 2; i < inputs.size(); ++i) add(op, swapped, inputs[i], kNoSource, false);
  EXPECT_NE(swapped, want) << "order is not";
}

}  // namespace
}  // namespace tutti
