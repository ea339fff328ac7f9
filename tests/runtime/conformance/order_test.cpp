// SPDX-License-Identifier: Apache-2.0
// The order of folding, on data that rounds or that an operator does not commute on: the runtime gives the bits that
// execution on numbers gives, of ordered algorithms those of the left fold in rank order, and the same on every rank.
#include <algorithm>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "conformance/run.hpp"
#include "data/small_float.hpp"
#include "ranks_of_threads.hpp"
#include "schedule/numbers.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti::test {
namespace {

using Memory = std::vector<std::byte>;
constexpr std::uint64_t kSeed = 3;
constexpr std::uint64_t kSlot = 1024;  // bytes

std::uint16_t add_bf16(std::span<const std::byte* const> sources) {
  float sum = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::uint16_t code;
    std::memcpy(&code, sources[i], sizeof code);
    sum = i == 0 ? bf16_to_f32(code) : sum + bf16_to_f32(code);
  }
  return f32_to_bf16(sum);
}

// As kernels fold: 16 bits are widened, and rounded once for all sources of a step.
FoldElement fold_for(Type type) {
  if (type == Type::f32) return fold_of<float>([](float a, float b) { return a + b; });
  return [](std::span<const std::byte* const> sources, std::byte* result) {
    const std::uint16_t sum = add_bf16(sources);
    std::memcpy(result, &sum, sizeof sum);
  };
}

struct Trial {
  Type type = Type::f32;
  std::uint64_t count = 0;
  std::uint32_t root = 0;
  std::vector<Memory> inputs = {};   // by rank
  std::vector<Memory> outputs = {};  // by rank; empty where it has none
};

Memory rounding_values(const Trial& trial, std::uint64_t elements, std::mt19937_64& random) {
  std::uniform_real_distribution<float> value(-1.0F, 1.0F);
  Memory memory(elements * size_of(trial.type));
  for (std::uint64_t i = 0; i < elements; ++i) {
    const float drawn = value(random);
    const std::uint16_t code = f32_to_bf16(drawn);
    std::byte* const to = memory.data() + i * size_of(trial.type);
    if (trial.type == Type::f32) {
      std::memcpy(to, &drawn, sizeof drawn);
    } else {
      std::memcpy(to, &code, sizeof code);
    }
  }
  return memory;
}

Schedule schedule_of(const Algorithm& algorithm, Request request, const Trial& trial) {
  request.root = trial.root;
  return algorithm.make(request);
}

std::vector<Trial> trials_of(const Algorithm& algorithm, const Request& request) {
  const std::uint32_t last = request.num_ranks - 1;
  // Two rounds, and a few elements.
  std::vector<Trial> trials = {{.type = Type::f32, .count = kSlot / sizeof(float) + 7},
                               {.type = Type::bf16, .count = request.num_ranks + 1}};
  if (facts_of(algorithm.collective).has_root) trials.back().root = last;
  std::mt19937_64 random(kSeed);
  for (Trial& trial : trials) {
    const Schedule schedule = schedule_of(algorithm, request, trial);
    for (std::uint32_t rank = 0; rank <= last; ++rank) {
      trial.inputs.push_back(rounding_values(trial, schedule.division(Space::input).blocks * trial.count, random));
      trial.outputs.emplace_back(has_block(schedule, rank, Space::output, 0) ? trial.count * size_of(trial.type) : 0);
    }
  }
  return trials;
}

void run_trials(const Algorithm& algorithm, const Request& request, std::vector<Trial>& trials) {
  Settings settings = Settings::from(Variables());
  settings.region.staging_slot = settings.region.message_slot = kSlot;
  settings.forced_of(algorithm.collective).name = full_name(algorithm, request);
  settings.walker = request.num_ranks % 2 == 0 ? WalkerChoice::generic : WalkerChoice::automatic;
  ThreadRanks(request.num_ranks, settings).run([&](Communicator& communicator) {
    for (Trial& trial : trials) {
      const Memory& input = trial.inputs[communicator.rank()];
      Memory& output = trial.outputs[communicator.rank()];
      const Result<void*> memory = communicator.allocate(input.size() + trial.count * size_of(trial.type));
      ASSERT_TRUE(memory.ok()) << memory.status().to_string();
      auto* const from = static_cast<std::byte*>(*memory);
      std::copy(input.begin(), input.end(), from);
      const Status status = communicator.run({.collective = algorithm.collective,
                                              .input = from,
                                              .output = from + input.size(),
                                              .count = trial.count,
                                              .type = trial.type,
                                              .root = trial.root});
      ASSERT_TRUE(status.ok()) << status.to_string();
      std::copy_n(from + input.size(), output.size(), output.begin());
      ASSERT_TRUE(communicator.free(*memory).ok());
    }
  });
}

// The fold of the ranks that the result is of, element by element, in their order.
Memory left_fold(const Schedule& schedule, const Trial& trial, std::uint32_t rank) {
  const Expected expected = expected_output(schedule, rank, {0, 0}).value();
  const FoldElement fold = fold_for(trial.type);
  const std::size_t size = size_of(trial.type);
  Memory result(trial.count * size);
  for (std::uint64_t i = 0; i < trial.count; ++i) {
    std::vector<const std::byte*> sources;
    for (std::uint32_t from = expected.first; from < expected.end; ++from)
      sources.push_back(trial.inputs[from].data() + (expected.origin.block * trial.count + i) * size);
    if (sources.size() == 1) {
      std::copy_n(sources[0], size, result.begin() + static_cast<std::ptrdiff_t>(i * size));
    } else {
      fold(sources, result.data() + i * size);
    }
  }
  return result;
}

void expect_right_order(const Algorithm& algorithm, const Request& request, const Trial& trial) {
  const Schedule schedule = schedule_of(algorithm, request, trial);
  const NumbersData data{
      .element_size = size_of(trial.type), .count = trial.count, .window = trial.count, .fold = fold_for(trial.type)};
  const auto numbers =
      run_on_numbers(schedule, trial.inputs, data, {.staged = algorithm.channel != Channel::symmetric});
  ASSERT_TRUE(numbers.ok()) << numbers.status().to_string();
  for (std::uint32_t rank = 0; rank < request.num_ranks; ++rank) {
    const Memory& output = trial.outputs[rank];
    if (output.empty()) continue;
    EXPECT_EQ(output, (*numbers)[rank]) << "rank " << rank << ": not what execution on numbers gives";
    // In 16 bits each step rounds, and how many there are is the schedule's own business.
    if (schedule.order == OrderClass::ordered && trial.type == Type::f32) {
      EXPECT_EQ(output, left_fold(schedule, trial, rank)) << "rank " << rank << ": not the left fold in rank order";
    }
    if (schedule.order <= OrderClass::uniform && algorithm.collective == Collective::all_reduce) {
      EXPECT_EQ(output, trial.outputs[0]) << "rank " << rank << ": not what rank 0 has";
    }
  }
}

TEST(FoldingOrder, IsThatOfTheScheduleInEveryBit) {
  std::mt19937_64 random(kSeed);
  std::size_t number = 0;
  for (const Algorithm* algorithm : conforming_algorithms()) {
    if (!facts_of(algorithm->collective).folds) continue;
    for (std::uint32_t ranks = 1; ranks <= kMostRanks; ++ranks) {
      if (!is_run(number++)) continue;
      const std::vector<Request> requests = requests_of(*algorithm, ranks);
      if (requests.empty()) continue;
      // The usual parameters and some others.
      std::vector<std::size_t> chosen = {0};
      if (requests.size() > 1) chosen.push_back(1 + random() % (requests.size() - 1));
      for (const std::size_t each : chosen) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm->collective) << " by "
                                        << full_name(*algorithm, requests[each]) << ", " << ranks << " ranks");
        std::vector<Trial> trials = trials_of(*algorithm, requests[each]);
        run_trials(*algorithm, requests[each], trials);
        for (const Trial& trial : trials) expect_right_order(*algorithm, requests[each], trial);
        if (HasFailure()) return;
      }
    }
  }
}

// Algorithms whose row promises less than some of their schedules keep: by parameters, or by root.
TEST(FoldingOrder, IsKeptForOperatorsThatDoNotCommuteWhereverItIsPromised) {
  constexpr std::size_t kMostRequests = 3;
  std::vector<Case> cases;
  for (const Algorithm* algorithm : conforming_algorithms()) {
    if (!facts_of(algorithm->collective).folds || algorithm->order <= OrderClass::rank_order) continue;
    for (std::uint32_t ranks = 1; ranks <= kMostRanks; ++ranks) {
      std::vector<Request> ordered = requests_of(*algorithm, ranks);
      std::erase_if(ordered, [&](const Request& each) { return algorithm->make(each).order > OrderClass::rank_order; });
      const std::size_t stride = 1 + ordered.size() / kMostRequests;
      for (std::size_t each = 0; each < ordered.size(); each += stride)
        cases.push_back({.algorithm = algorithm,
                         .way = full_name(*algorithm, ordered[each]),
                         .num_ranks = ranks,
                         .type = Type::u64,
                         .op = Op::user,
                         .count = 2 * ranks + 1,
                         .in_place = each % 2 == 0,
                         .seed = kSeed + cases.size()});
    }
  }
  EXPECT_GE(cases.size(), 30U);
  EXPECT_EQ(run_cases(cases), "") << "something else ran than was forced";
}

}  // namespace
}  // namespace tutti::test
