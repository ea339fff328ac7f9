// SPDX-License-Identifier: Apache-2.0
// Execution on numbers: random schedules give the sum, whatever the interleaving, and one that prove
// calls wrong by name gives something else.
#include "schedule/numbers.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "schedule/oracle/random_schedule.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<Bytes> inputs_of(std::uint32_t ranks, std::uint64_t count) {
  std::vector<Bytes> inputs;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::int64_t> numbers(count);
    for (std::uint64_t each = 0; each < count; ++each)
      numbers[each] = static_cast<std::int64_t>((each + 1) * 1000003 * (std::uint64_t{1} << rank));
    Bytes bytes(count * sizeof(std::int64_t));
    if (count != 0) std::memcpy(bytes.data(), numbers.data(), bytes.size());
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

// How many ranks' outputs are not the sum.
int num_wrong(const Schedule& schedule, std::uint64_t count, std::uint64_t window, const NumbersOptions& options) {
  const NumbersData data{sizeof(std::int64_t), count, window, fold_of<std::int64_t>(std::plus<>())};
  const auto outputs = run_on_numbers(schedule, inputs_of(schedule.num_ranks, count), data, options);
  EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
  if (!outputs.ok()) return -1;
  Bytes expected(count * sizeof(std::int64_t));
  for (std::uint64_t each = 0; each < count; ++each) {
    const auto sum = static_cast<std::int64_t>((each + 1) * 1000003 * ((std::uint64_t{1} << schedule.num_ranks) - 1));
    std::memcpy(expected.data() + each * sizeof(sum), &sum, sizeof(sum));
  }
  int wrong = 0;
  for (const Bytes& output : *outputs) wrong += output == expected ? 0 : 1;
  return wrong;
}

TEST(Numbers, RandomSchedulesGiveTheSumInEveryModeThatIsProven) {
  for (int family = 0; family < kNumFamilies; ++family) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const auto ranks = static_cast<std::uint32_t>(1 + seed % 6);
      const Schedule schedule = random_schedule(seed, static_cast<Family>(family), ranks);
      const Proof proof = prove(schedule);
      ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
      for (int mode = 0; mode < 8; ++mode) {
        NumbersOptions options{.seed = seed};
        options.in_place = (mode & 1) != 0;
        options.staged = (mode & 2) != 0;
        options.fusion = (mode & 4) != 0 ? Fusion::neighbours : Fusion::none;
        // The least that was proven: less would get stuck, and this must not.
        options.depth = options.fusion == Fusion::none ? proof.least_depth : proof.least_depth_fused;
        options.staging_slots = proof.least_slots;
        const Exposure exposure = (options.in_place ? proof.in_place : proof.out_of_place).exposure;
        if (!options.staged && exposure == Exposure::copy_only) continue;
        SCOPED_TRACE(testing::Message() << schedule.name << ", seed " << seed << ", mode " << mode);
        EXPECT_EQ(num_wrong(schedule, 37, 2, options), 0);
      }
    }
  }
}

TEST(Numbers, LessThanTheLeastDepthGetsStuck) {
  const Schedule ring = find_algorithm(Collective::all_reduce, "ring")->make({.num_ranks = 4});
  const NumbersData data{sizeof(std::int64_t), 8, 8, fold_of<std::int64_t>(std::plus<>())};
  for (const std::uint32_t depth : {0U, 1U, 2U}) {
    const auto outputs = run_on_numbers(ring, inputs_of(4, 8), data, {.depth = depth});
    EXPECT_EQ(outputs.ok(), depth == 2) << depth;
  }
}

TEST(Numbers, WhatIsCopyOnlyIsWrongByNameInSomeInterleaving) {
  const Schedule one_shot = find_algorithm(Collective::all_reduce, "one_shot")->make({.num_ranks = 3});
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    wrong += num_wrong(one_shot, 9, 3, {.seed = seed, .staged = false, .in_place = true});
  EXPECT_GT(wrong, 0);
}

TEST(Numbers, FoldsInTheOrderOfTheSources) {
  // One-shot is ordered: the left fold in rank order, to the bit.
  const Schedule one_shot = find_algorithm(Collective::all_reduce, "one_shot")->make({.num_ranks = 4});
  const double values[] = {1e16, 1.0, -1e16, 1.0};
  std::vector<Bytes> inputs;
  for (const double value : values) {
    Bytes bytes(sizeof(double));
    std::memcpy(bytes.data(), &value, sizeof(double));
    inputs.push_back(bytes);
  }
  const auto outputs = run_on_numbers(one_shot, inputs, {sizeof(double), 1, 1, fold_of<double>(std::plus<>())}, {});
  ASSERT_TRUE(outputs.ok());
  for (const Bytes& output : *outputs) {
    double sum = 0;
    std::memcpy(&sum, output.data(), sizeof(double));
    EXPECT_EQ(sum, ((values[0] + values[1]) + values[2]) + values[3]);
  }
}

TEST(Numbers, WrongSizesAreErrors) {
  const Schedule ring = find_algorithm(Collective::all_reduce, "ring")->make({.num_ranks = 2});
  const NumbersData data{sizeof(std::int64_t), 4, 4, fold_of<std::int64_t>(std::plus<>())};
  EXPECT_FALSE(run_on_numbers(ring, inputs_of(3, 4), data, {}).ok());
  EXPECT_FALSE(run_on_numbers(ring, inputs_of(2, 5), data, {}).ok());
  EXPECT_FALSE(run_on_numbers(ring, inputs_of(2, 4), {8, 4, 0, data.fold}, {}).ok());
}

}  // namespace
}  // namespace tutti
