// SPDX-License-Identifier: Apache-2.0
// The walk of devices on threads of the host: every direct algorithm, random schedules, and the kernels written out do
// what execution on numbers does, to the bit.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "host_ranks.hpp"
#include "schedule/numbers.hpp"
#include "schedule/oracle/random_schedule.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti::device {
namespace {

using Bytes = std::vector<std::byte>;
using Float = PlainElement<float>;

// Small windows: several channels, and so many rounds of each that slots are used again.
constexpr Limits kSmall = {
    .channels = 3, .threads = 4, .channel_bytes = 64, .slots_bytes = 1024, .scratch_bytes = 4096};

// Sums of these depend on their order.
Bytes random_floats(std::uint64_t number, std::mt19937& random) {
  Bytes bytes(number * sizeof(float));
  for (std::uint64_t i = 0; i < number; ++i) {
    const float value = std::ldexp(static_cast<float>(random() % 2001) - 1000.0F, static_cast<int>(random() % 20));
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

// Inputs and outputs of all ranks, at any alignment of a float.
struct Memory {
  Memory(const Schedule& schedule, const NumbersData& data, bool in_place, std::uint32_t seed) {
    std::mt19937 random(seed);
    for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
      inputs.push_back(random_floats(elements_of(schedule, data, rank, Space::input), random));
      const std::size_t output = elements_of(schedule, data, rank, Space::output) * sizeof(float);
      const std::size_t bytes = std::max(inputs[rank].size(), output);
      const std::size_t shift = random() % 3 == 0 ? sizeof(float) * (random() % 4) : 0;
      given.emplace_back(inputs[rank].size() + 32);
      got.emplace_back(bytes + 32, std::byte{0xa5});
      input_at.push_back(16 - reinterpret_cast<std::uintptr_t>(given[rank].data()) % 16 + shift);
      output_at.push_back(16 - reinterpret_cast<std::uintptr_t>(got[rank].data()) % 16 + shift);
      if (!in_place) {
        std::copy(inputs[rank].begin(), inputs[rank].end(), input(rank));
        continue;
      }
      // In place: inputs begin where outputs do; place_in_place moves those that begin elsewhere.
      Bytes& both = got[rank];
      std::copy(inputs[rank].begin(), inputs[rank].end(), both.begin() + static_cast<std::ptrdiff_t>(output_at[rank]));
    }
  }
  std::byte* input(std::uint32_t rank) { return given[rank].data() + input_at[rank]; }
  std::byte* output(std::uint32_t rank) { return got[rank].data() + output_at[rank]; }

  std::vector<Bytes> inputs;
  std::vector<Bytes> given;
  std::vector<Bytes> got;
  std::vector<std::size_t> input_at;
  std::vector<std::size_t> output_at;
};

// The buffers of an in-place call: one begins where the other has its block.
void place_in_place(const Schedule& schedule, std::uint64_t count, Memory& memory, HostCall& call) {
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    std::byte* both = memory.output(rank);
    call.inputs.push_back(both);
    call.outputs.push_back(both);
    const CollectiveFacts& facts = facts_of(schedule.collective);
    const std::size_t own = rank * count * sizeof(float);
    if (facts.many_outputs && !facts.many_inputs) {
      // The input is this rank's block of the output.
      std::copy(memory.inputs[rank].begin(), memory.inputs[rank].end(), both + own);
      call.inputs.back() = both + own;
    }
    if (facts.many_inputs && !facts.many_outputs) call.outputs.back() = both + own;
  }
}

void expect_equal(const Schedule& schedule, const HostCall& call, const std::vector<Bytes>& expected,
                  const std::string& words) {
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    const auto* from = static_cast<const std::byte*>(call.outputs[rank]);
    const std::size_t block = call.count * sizeof(float);
    for (std::uint32_t each = 0; each < schedule.division(Space::output).blocks; ++each) {
      if (!expected_output(schedule, rank, {each, 0})) continue;
      const std::byte* wanted = expected[rank].data() + each * block;
      EXPECT_TRUE(std::equal(wanted, wanted + block, from + each * block))
          << words << ", rank " << rank << ", block " << each;
    }
  }
}

void expect_as_numbers(HostRanks& ranks, const Schedule& schedule, bool by_name, bool in_place, std::uint64_t count,
                       std::vector<Way> ways = {}) {
  const std::string words =
      fmt::format("{} {}, {} ranks, {} elements, by name {}, in place {}", name_of(schedule.collective), schedule.name,
                  schedule.num_ranks, count, by_name, in_place);
  const NumbersData data{sizeof(float), count, std::max<std::uint64_t>(count, 1), fold_of<float>(std::plus<>())};
  static std::uint32_t seed = 0;
  Memory memory(schedule, data, in_place, ++seed);
  const auto expected = run_on_numbers(schedule, memory.inputs, data, {.staged = !by_name, .in_place = in_place});
  ASSERT_TRUE(expected.ok()) << words << ": " << expected.status().to_string();
  const auto programs = make_word_programs(schedule, by_name);
  ASSERT_TRUE(programs.ok()) << words << ": " << programs.status().to_string();
  HostCall call = {
      .programs = &*programs, .count = count, .op = {.op = Op::sum, .type = Type::f32}, .ways = std::move(ways)};
  if (in_place) {
    place_in_place(schedule, count, memory, call);
  } else {
    for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
      call.inputs.push_back(memory.input(rank));
      call.outputs.push_back(memory.output(rank));
    }
  }
  ASSERT_TRUE(ranks.run<Float>(call)) << words;
  expect_equal(schedule, call, *expected, words);
}

bool opens(const Schedule& schedule) {
  const Program program = collect(schedule, schedule.root, Fusion::neighbours);
  for (const std::vector<Step>& lane : program.lanes)
    if (std::any_of(lane.begin(), lane.end(), [](const Step& step) { return step.kind == StepKind::open; }))
      return true;
  return false;
}

void expect_right_in_all_ways(const Algorithm& algorithm, std::uint32_t num_ranks) {
  HostRanks ranks(num_ranks, kSmall);
  std::vector<Request> requests = cases_of(algorithm, num_ranks);
  if (requests.size() > 4) requests.resize(4);
  for (const Request& request : requests) {
    const Schedule schedule = algorithm.make(request);
    for (const std::uint64_t count : {0U, 1U, 5U, 64U, 1000U, 1537U})
      for (const bool in_place : {false, true}) {
        if (!opens(schedule)) expect_as_numbers(ranks, schedule, false, in_place, count);
        const bool is_safe = in_place ? algorithm.name_safe_in_place : algorithm.name_safe;
        if (is_safe || opens(schedule)) expect_as_numbers(ranks, schedule, true, in_place, count);
        if (testing::Test::HasFailure()) return;
      }
  }
}

TEST(DeviceWalk, DirectAlgorithmsDoWhatExecutionOnNumbersDoes) {
  std::set<std::string> names;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->channel != Channel::staged && algorithm->channel != Channel::symmetric) continue;
    if (facts_of(algorithm->collective).varies || algorithm->takes.groups) continue;
    names.insert(fmt::format("{} {}", name_of(algorithm->collective), algorithm->name));
    for (const std::uint32_t num_ranks : {1U, 2U, 3U, 4U}) expect_right_in_all_ways(*algorithm, num_ranks);
    if (!TUTTI_BRIEF_TESTS) expect_right_in_all_ways(*algorithm, 8);
  }
  EXPECT_TRUE(names.contains("all_reduce one_shot") && names.contains("all_reduce two_shot") &&
              names.contains("all_reduce two_shot_pull") && names.contains("broadcast push_pull"));
}

TEST(DeviceWalk, RandomSchedulesDoWhatExecutionOnNumbersDoes) {
  std::uint32_t run = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const Family family : {Family::exchange, Family::symmetric}) {
      const auto num_ranks = static_cast<std::uint32_t>(2 + seed % 5);
      const Schedule schedule = random_schedule(seed, family, num_ranks);
      if (!make_word_programs(schedule, false).ok()) continue;
      Limits limits = kSmall;
      limits.slots_bytes = 4096;  // some expose many pieces at once
      HostRanks ranks(num_ranks, limits);
      for (int again = 0; again < 3; ++again)
        expect_as_numbers(ranks, schedule, family == Family::symmetric, false, 1 + seed * 37 % 900);
      ++run;
    }
  EXPECT_GE(run, 20U);
}

TEST(DeviceWalk, WhatIsWrittenOutIsTheSameAsTheWalkOfTheSchedule) {
  for (const std::uint32_t num_ranks : {2U, 4U, 8U}) {
    HostRanks ranks(num_ranks, kSmall);
    for (const auto& [name, way] : {std::pair("one_shot", Way::one_shot), std::pair("two_shot", Way::two_shot)}) {
      const Schedule schedule = find_algorithm(Collective::all_reduce, name)->make({.num_ranks = num_ranks});
      // Rank 1 walks the schedule. The others run it written out.
      std::vector<Way> ways(num_ranks, way);
      ways[1] = Way::generic;
      for (const std::uint64_t count : {0U, 1U, 7U, 64U, 1000U, 1537U}) {
        for (const auto& each : {std::vector<Way>(num_ranks, way), ways}) {
          const bool opened = way == Way::two_shot;
          expect_as_numbers(ranks, schedule, true, false, count, each);
          expect_as_numbers(ranks, schedule, opened, true, count, each);
        }
      }
    }
  }
}

TEST(DeviceWalk, MessagesAndSwitchesAreRefusedWithTheStep) {
  const auto refusal = [](const char* name) {
    const Schedule schedule = find_algorithm(Collective::all_reduce, name)->make({.num_ranks = 4});
    return make_word_programs(schedule, false).status().to_string();
  };
  EXPECT_NE(refusal("ring").find("it sends messages"), std::string::npos) << refusal("ring");
  EXPECT_NE(refusal("multicast_two_shot").find("a switch"), std::string::npos) << refusal("multicast_two_shot");
}

struct Pair {
  Pair() {
    for (int rank = 0; rank < 2; ++rank) {
      call.inputs.push_back(input.data());
      call.outputs.push_back(outputs[static_cast<std::size_t>(rank)].data());
    }
  }
  WordPrograms programs =
      make_word_programs(find_algorithm(Collective::all_reduce, "one_shot")->make({.num_ranks = 2}), true).value();
  std::array<float, 16> input = {};
  std::array<std::array<float, 16>, 2> outputs = {};
  HostCall call = {.programs = &programs, .count = 16, .op = {.op = Op::sum, .type = Type::f32}};
  HostRanks ranks{2, kSmall};
};

TEST(DeviceWalk, ARankThatDoesNotComeIsNamedAfterTheTimeOut) {
  Pair pair;
  pair.ranks.timeout = 50'000'000;
  pair.call.ranks = {0};
  EXPECT_FALSE(pair.ranks.run<Float>(pair.call));
  EXPECT_EQ(pair.ranks.failure(0).trouble, static_cast<std::uint32_t>(Trouble::timeout));
  EXPECT_EQ(pair.ranks.failure(0).rank, 1U);
  EXPECT_EQ(pair.ranks.failure(0).post, 0U);
}

// What it told of the call that failed is all that the other rank ever sees.
TEST(DeviceWalk, ARankThatFailedTellsNothingOfLaterCalls) {
  Pair pair;
  pair.ranks.timeout = 50'000'000;
  pair.call.ranks = {0};
  EXPECT_FALSE(pair.ranks.run<Float>(pair.call));
  HostCall later = pair.call;
  later.digest = 2;
  EXPECT_FALSE(pair.ranks.run<Float>(later));
  pair.call.ranks = {1};
  EXPECT_FALSE(pair.ranks.run<Float>(pair.call));
  // It has met the post of its own call, and waits for the end of the round; another call's would be a mismatch.
  EXPECT_EQ(pair.ranks.failure(1).trouble, static_cast<std::uint32_t>(Trouble::timeout));
  EXPECT_EQ(pair.ranks.failure(1).post, kNoPost);
}

TEST(DeviceWalk, AnAbortEndsAWaitWithoutATimeOut) {
  Pair pair;
  pair.ranks.timeout = 0;
  pair.call.ranks = {0};
  std::jthread aborting([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    HostPlatform::store_host(&pair.ranks.failure(0).abort, 1);
  });
  EXPECT_FALSE(pair.ranks.run<Float>(pair.call));
  EXPECT_EQ(pair.ranks.failure(0).trouble, static_cast<std::uint32_t>(Trouble::aborted));
}

TEST(DeviceWalk, CallsThatDifferAreAnErrorOnBothRanks) {
  Pair pair;
  std::vector<std::jthread> threads;
  HostCall other = pair.call;
  other.digest = 2;
  pair.call.ranks = {0};
  other.ranks = {1};
  bool first = true;
  bool second = true;
  {
    std::jthread one([&] { first = pair.ranks.run<Float>(pair.call); });
    std::jthread two([&] { second = pair.ranks.run<Float>(other); });
  }
  EXPECT_FALSE(first);
  EXPECT_FALSE(second);
  EXPECT_EQ(pair.ranks.failure(0).trouble, static_cast<std::uint32_t>(Trouble::mismatch));
  EXPECT_EQ(pair.ranks.failure(1).trouble, static_cast<std::uint32_t>(Trouble::mismatch));
}

TEST(DeviceShape, WindowsCoverAllAndFitTheirSlots) {
  for (const char* name : {"one_shot", "two_shot_pull"}) {
    const auto programs =
        make_word_programs(find_algorithm(Collective::all_reduce, name)->make({.num_ranks = 8}), false).value();
    for (const std::uint64_t count : {0ULL, 1ULL, 1000ULL, 12345ULL, 67108864ULL})
      for (const std::uint32_t element : {1U, 2U, 4U, 8U}) {
        const Limits limits = {.channels = 16, .channel_bytes = 1024, .slots_bytes = 65536};
        const Shape shape = shape_of(programs, count, element, limits).value();
        const std::uint64_t piece = (count + programs.pieces - 1) / programs.pieces;
        EXPECT_GE(shape.num_rounds * shape.window, piece);
        EXPECT_LT((shape.num_rounds - 1) * shape.window, std::max<std::uint64_t>(piece, 1));
        EXPECT_EQ(shape.window * element % 16, 0U);
        EXPECT_LE(std::uint64_t{2} * programs.exposes_per_round * shape.slot_bytes, limits.slots_bytes);
        EXPECT_LE(shape.channels, shape.num_rounds);
      }
  }
}

// Each channel has one round, and no tile is left without one.
TEST(DeviceShape, ByNameChannelsTakeTiles) {
  const auto programs =
      make_word_programs(find_algorithm(Collective::all_reduce, "two_shot")->make({.num_ranks = 4}), true).value();
  const Limits limits = {.channels = 16, .threads = 512, .channel_bytes = 16384};
  const auto of = [&](std::uint64_t count) { return shape_of(programs, count, 4, limits).value(); };
  EXPECT_EQ(of(1).tile_shift, 11U);  // 512 chunks of 16 bytes: 2048 elements of 4
  EXPECT_EQ(of(0).channels, 1U);
  EXPECT_EQ(of(8192).channels, 2U);
  EXPECT_EQ(of(1U << 20U).channels, 16U);
  for (const std::uint64_t count : {0U, 1U, 8192U, 1U << 20U}) {
    EXPECT_EQ(of(count).num_rounds, of(count).channels);
    EXPECT_GE(of(count).window, (count + 3) / 4);
  }
}

TEST(DeviceShape, SlotsThatAreTooSmallAreAnError) {
  const auto programs =
      make_word_programs(find_algorithm(Collective::all_reduce, "two_shot_pull")->make({.num_ranks = 8}), false)
          .value();
  EXPECT_FALSE(shape_of(programs, 100, 4, {.slots_bytes = 256}).ok());
}

}  // namespace
}  // namespace tutti::device
