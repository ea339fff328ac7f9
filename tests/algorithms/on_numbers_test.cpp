// SPDX-License-Identifier: Apache-2.0
// Every algorithm on numbers: each output block of each rank holds what its collective defines, over several rounds, in
// many interleavings, in place and out of place, and blocks that a rank does not have stay untouched.
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "schedule/numbers.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti {
namespace {

using Bytes = std::vector<std::byte>;
using Number = std::uint64_t;

// Odd multiples of a large odd number: sums tell which summands they have, and how often.
Number number_of(std::uint32_t rank, std::uint32_t block, std::uint64_t element) {
  return (Number{rank} * 0x9e3779b97f4a7c15U + block * 0xbf58476d1ce4e5b9U + element) * 2 + 1;
}

std::uint64_t size_of_block(const Schedule& schedule, const NumbersData& data, std::uint32_t rank, Space space,
                            std::uint32_t block) {
  return data.sizes.empty() ? data.count : data.sizes[size_class(schedule, rank, space, block)];
}

void append(Bytes& bytes, Number number) {
  const auto* from = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), from, from + sizeof number);
}

Bytes input_of(const Schedule& schedule, const NumbersData& data, std::uint32_t rank) {
  Bytes bytes;
  for (std::uint32_t block = 0; block < schedule.division(Space::input).blocks; ++block)
    for (std::uint64_t i = 0; i < size_of_block(schedule, data, rank, Space::input, block); ++i)
      append(bytes, number_of(rank, block, i));
  return bytes;
}

constexpr Number kUntouched = 0xa5a5a5a5a5a5a5a5U;

Bytes output_of(const Schedule& schedule, const NumbersData& data, std::uint32_t rank, bool in_place) {
  Bytes bytes;
  for (std::uint32_t block = 0; block < schedule.division(Space::output).blocks; ++block) {
    const auto expected = expected_output(schedule, rank, {block, 0});
    const auto behind = in_place ? input_behind(schedule, rank, block) : std::nullopt;
    for (std::uint64_t i = 0; i < size_of_block(schedule, data, rank, Space::output, block); ++i) {
      Number sum = 0;
      for (std::uint32_t from = expected ? expected->first : 0; expected && from < expected->end; ++from)
        sum += number_of(from, expected->origin.block, i);
      if (!expected) sum = behind ? number_of(rank, *behind, i) : kUntouched;
      append(bytes, sum);
    }
  }
  return bytes;
}

NumbersData data_for(const Schedule& schedule, std::uint64_t count, bool in_place) {
  NumbersData data{sizeof(Number), count, 3, fold_of<Number>(std::plus<>())};
  if (facts_of(schedule.collective).varies) {
    data.sizes.resize(num_size_classes(schedule));
    for (std::size_t each = 0; each < data.sizes.size(); ++each) {
      // In place each pair of an all-to-all sends as much as it receives.
      const std::size_t twin = each % schedule.num_ranks * schedule.num_ranks + each / schedule.num_ranks;
      data.sizes[each] = (in_place ? std::min(each, twin) : each) * 7 % (count + 2);
    }
  }
  return data;
}

void expect_right(const Schedule& schedule, std::uint64_t count, NumbersOptions options) {
  const NumbersData data =
      data_for(schedule, count, options.in_place && schedule.collective == Collective::all_to_all_v);
  std::vector<Bytes> inputs;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) inputs.push_back(input_of(schedule, data, rank));
  const auto outputs = run_on_numbers(schedule, inputs, data, options);
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank)
    ASSERT_EQ((*outputs)[rank], output_of(schedule, data, rank, options.in_place)) << "rank " << rank;
}

TEST(OnNumbers, EveryAlgorithmDoesWhatItsCollectiveDefines) {
  constexpr std::size_t kMostCases = 12;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 5U, 6U, 8U}) {
      const std::vector<Request> cases = cases_of(*algorithm, ranks);
      const std::size_t stride = 1 + cases.size() / kMostCases;
      for (std::size_t each = 0; each < cases.size(); each += stride) {
        const Schedule schedule = algorithm->make(cases[each]);
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
          NumbersOptions options{.seed = seed, .fusion = seed % 2 == 0 ? Fusion::none : Fusion::neighbours};
          options.in_place = !schedule.allows_out_of_place || (schedule.allows_in_place && seed >= 2);
          constexpr std::uint64_t kCounts[] = {23, 1, 0, 7};
          SCOPED_TRACE(testing::Message() << name_of(schedule.collective) << " " << schedule.name << ", " << ranks
                                          << " ranks, root " << schedule.root << ", seed " << seed);
          expect_right(schedule, kCounts[(seed + each) % 4], options);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti
