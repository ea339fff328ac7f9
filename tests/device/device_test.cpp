// SPDX-License-Identifier: Apache-2.0
// Ranks on a device: data are right, the bits are the processor's, and what goes wrong is an error.
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "data/kernel.hpp"
#include "on_device.hpp"
#include "schedule/numbers.hpp"
#include "schedule/oracle/random_schedule.hpp"

namespace tutti::device {
namespace {

using Bytes = std::vector<std::byte>;
class Device : public DeviceTest {};

// All direct all-reduces in all types. `counts` ascend, since the last one sizes the buffers.
void expect_all_right(DeviceGroup& group, const std::vector<std::uint64_t>& counts, bool in_both) {
  ExactRanks ranks(group, counts.back() * 8, 1);
  for (const LoadedSchedule* loaded : load_all(group, Collective::all_reduce))
    for (int type = 0; type < kNumTypes; ++type)
      for (const std::uint64_t count : counts)
        for (const bool in_place : {false, true})
          for (const bool generic : {true, false}) {
            if (!in_both && (in_place != (type % 2 == 0) || generic != (type % 3 != 0))) continue;
            ranks.expect_right({loaded, static_cast<Type>(type), Op::sum, count, in_place, generic});
            if (testing::Test::HasFailure()) return;
          }
}

TEST_F(Device, SmallAllReducesAreRightInAllTypes) {
  for (const std::uint32_t num_ranks : {2U, 4U, 8U})
    if (const auto group = group_of({.num_ranks = num_ranks})) expect_all_right(*group, {1, 3, 1000}, true);
}

// Few enough for tools that look at each access.
TEST_F(Device, FewAllReducesAreRight) {
  const auto group = group_of({.num_ranks = 2});
  ASSERT_NE(group, nullptr);
  ExactRanks ranks(*group, 4000, 1);
  for (const LoadedSchedule* loaded : load_all(*group, Collective::all_reduce))
    for (const std::uint64_t count : {1U, 1000U})
      for (const bool in_place : {false, true})
        for (const bool generic : {false, true}) {
          const std::size_t shift = count > 1 && in_place ? 4 : 0;
          ranks.expect_right({loaded, Type::f32, Op::sum, count, in_place, generic, shift});
        }
}

TEST_F(Device, MediumAllReducesAreRightInAllTypes) {
  for (const std::uint32_t num_ranks : {1U, 2U, 4U, 8U})
    if (const auto group = group_of({.num_ranks = num_ranks})) expect_all_right(*group, {65537, 1U << 20U}, false);
}

TEST_F(Device, LargeAllReducesAreRightInAllTypes) {
  if (const auto group = group_of({.num_ranks = 8})) expect_all_right(*group, {64U << 20U}, false);
}

TEST_F(Device, AThousandRandomCallsAreRight) {
  for (const std::uint32_t num_ranks : {2U, 3U, 4U, 5U, 8U}) {
    const auto group = group_of({.num_ranks = num_ranks, .as_between_devices = num_ranks % 2 == 0});
    ASSERT_NE(group, nullptr);
    std::mt19937 random(num_ranks);
    std::vector<const LoadedSchedule*> schedules;
    for (const Collective collective :
         {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::broadcast,
          Collective::reduce, Collective::all_to_all, Collective::barrier}) {
      const std::uint32_t root = facts_of(collective).has_root ? num_ranks - 1 : 0;
      for (const LoadedSchedule* loaded : load_all(*group, collective, root)) schedules.push_back(loaded);
    }
    constexpr std::uint64_t kMost = 50000;
    ExactRanks ranks(*group, kMost * 8, num_ranks);
    for (int calls = 0; calls < 200;) {
      ExactCall call = {.loaded = schedules[random() % schedules.size()],
                        .type = static_cast<Type>(random() % kNumTypes),
                        .op = static_cast<Op>(random() % kNumOps),
                        .count = random() % (random() % 2 == 0 ? 200 : kMost),
                        .in_place = random() % 2 == 0,
                        .generic = random() % 2 == 0};
      call.shift = random() % 4 == 0 ? size_of(call.type) : 0;
      const CollectiveFacts& facts = facts_of(call.loaded->schedule().collective);
      if (!facts.folds) call.op = Op::sum;
      if (call.op == Op::user || !is_defined(call.op, call.type)) continue;
      // What stores into others' buffers cannot scale what it reads there.
      if (call.op == Op::premultiplied_sum && call.loaded->is_by_name(call.in_place, false)) continue;
      ranks.expect_right(call);
      ASSERT_FALSE(HasFailure());
      ++calls;
    }
  }
}

// Random bytes are all kinds of numbers, NaNs and infinities too.
Bytes random_bytes(std::size_t number, std::mt19937& random) {
  Bytes bytes(number);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random() & 0xff);
  return bytes;
}
Bytes random_floats(std::size_t count, std::mt19937& random) {
  Bytes bytes(count * sizeof(float));
  for (std::size_t i = 0; i < count; ++i) {
    const float value = std::ldexp(static_cast<float>(random() % 2001) - 1000.0F, static_cast<int>(random() % 30));
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

// Outputs of a call of all ranks with these inputs, buffers lying `shift` bytes behind a multiple of 256.
std::vector<Bytes> outputs_of(DeviceGroup& group, const DeviceCall& call, const std::vector<Bytes>& inputs,
                              std::size_t shift) {
  std::vector<std::unique_ptr<DeviceBytes>> memory;
  std::vector<DevicePart> parts;
  for (const Bytes& input : inputs) {
    DeviceBytes& from = *memory.emplace_back(std::make_unique<DeviceBytes>(input.size()));
    DeviceBytes& into = *memory.emplace_back(std::make_unique<DeviceBytes>(input.size()));
    into.poison();
    DeviceBytes& given = call.in_place ? into : from;
    given.set(input, shift);
    parts.push_back({given.data(shift), into.data(shift)});
  }
  const Status started = group.call_all(call, parts, nullptr);
  EXPECT_TRUE(started.ok()) << started.to_string();
  expect_cuda(cudaStreamSynchronize(nullptr));
  EXPECT_TRUE(group.check().ok()) << group.check().to_string();
  std::vector<Bytes> outputs;
  for (std::size_t rank = 0; rank < inputs.size(); ++rank)
    outputs.push_back(memory[2 * rank + 1]->get(inputs[rank].size(), shift));
  return outputs;
}

TEST_F(Device, OrderedSumsHaveTheBitsOfTheProcessor) {
  constexpr std::size_t kCount = 100003;
  for (const std::uint32_t num_ranks : {2U, 3U, 4U, 8U}) {
    const auto group = group_of({.num_ranks = num_ranks});
    ASSERT_NE(group, nullptr);
    std::mt19937 random(num_ranks);
    std::vector<Bytes> inputs;
    std::vector<const void*> sources;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) inputs.push_back(random_floats(kCount, random));
    for (const Bytes& input : inputs) sources.push_back(input.data());
    const Operator op = {.op = Op::sum, .type = Type::f32};
    Bytes expected(inputs[0].size());
    void* into = expected.data();
    reduce_kernel(Type::f32, Op::sum, false)(op, {&into, 1, sources.data(), num_ranks, kCount, kNoSource, true});
    for (const LoadedSchedule* loaded : load_all(*group, Collective::all_reduce)) {
      if (loaded->schedule().order != OrderClass::ordered) continue;
      for (const bool in_place : {false, true})
        for (const bool generic : {false, true})
          for (const Bytes& output : outputs_of(*group, {loaded, kCount, op, in_place, generic}, inputs, 0))
            EXPECT_TRUE(output == expected) << loaded->schedule().name << ", in place " << in_place << ", generic "
                                            << generic << ", " << num_ranks << " ranks";
    }
  }
}

TEST_F(Device, WhatIsWrittenOutHasTheBitsOfTheWalk) {
  constexpr std::size_t kCount = 70001;
  for (const std::uint32_t num_ranks : {2U, 4U, 8U}) {
    const auto group = group_of({.num_ranks = num_ranks});
    ASSERT_NE(group, nullptr);
    std::mt19937 random(num_ranks);
    for (const Type type : {Type::f32, Type::f16, Type::bf16, Type::f8e4m3, Type::f8e5m2}) {
      std::vector<Bytes> inputs;
      for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
        inputs.push_back(random_bytes(kCount * size_of(type), random));
      for (const LoadedSchedule* loaded : load_all(*group, Collective::all_reduce)) {
        const std::string& name = loaded->schedule().name;
        if (name != "one_shot" && name != "two_shot") continue;
        for (const bool in_place : {false, true})
          for (const std::size_t shift : {std::size_t{0}, size_of(type)}) {
            DeviceCall call = {loaded, kCount, {.op = Op::sum, .type = type}, in_place, true};
            const std::vector<Bytes> walked = outputs_of(*group, call, inputs, shift);
            call.generic = false;
            const std::vector<Bytes> written = outputs_of(*group, call, inputs, shift);
            for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
              EXPECT_TRUE(written[rank] == walked[rank]) << name << " of " << name_of(type) << ", rank " << rank;
              EXPECT_TRUE(written[rank] == written[0]) << name << " of " << name_of(type) << ", rank " << rank;
            }
          }
      }
    }
  }
}

TEST_F(Device, RandomSchedulesDoWhatExecutionOnNumbersDoes) {
  std::uint32_t run = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const Family family : {Family::exchange, Family::symmetric}) {
      const auto num_ranks = static_cast<std::uint32_t>(2 + seed % 5);
      const Schedule schedule = random_schedule(seed, family, num_ranks);
      if (!make_word_programs(schedule, false).ok()) continue;
      const auto group = group_of({.num_ranks = num_ranks, .channel_bytes = 1024});
      ASSERT_NE(group, nullptr);
      const auto loaded = group->schedules().load(schedule);
      ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
      const NumbersData data{sizeof(float), 1 + seed * 977 % 9000, 1U << 20U, fold_of<float>(std::plus<>())};
      std::mt19937 random(static_cast<std::uint32_t>(seed));
      std::vector<Bytes> inputs;
      for (std::uint32_t rank = 0; rank < num_ranks; ++rank) inputs.push_back(random_floats(data.count, random));
      const auto expected = run_on_numbers(schedule, inputs, data, {.staged = family == Family::exchange});
      ASSERT_TRUE(expected.ok()) << expected.status().to_string();
      const auto got = outputs_of(*group, {*loaded, data.count, {.op = Op::sum, .type = Type::f32}}, inputs, 0);
      for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
        EXPECT_TRUE(got[rank] == (*expected)[rank]) << schedule.name << ", seed " << seed << ", rank " << rank;
      ++run;
    }
  EXPECT_GE(run, 15U);
}

TEST_F(Device, NarrowingIsThatOfTheProcessorForAllValues) {
  const DeviceBytes wrong(4 * sizeof(unsigned long long));
  expect_cuda(cudaMemset(wrong.data(), 0, 4 * sizeof(unsigned long long)));
  std::byte* into = wrong.data();
  std::vector<void*> parameters = {&into};
  expect_cuda(cudaLaunchKernel(narrow_kernel(), dim3(1024), dim3(256), parameters.data(), 0, nullptr));
  const Bytes got = wrong.get(4 * sizeof(unsigned long long));
  EXPECT_TRUE(got == Bytes(got.size()));
}

// One stream for each rank.
struct Streams {
  explicit Streams(DeviceGroup& group) : group_(group) {
    for (std::uint32_t rank = 0; rank < group.num_ranks(); ++rank)
      expect_cuda(cudaStreamCreateWithFlags(&streams_.emplace_back(), cudaStreamNonBlocking));
  }
  ~Streams() {
    for (cudaStream_t stream : streams_) static_cast<void>(cudaStreamDestroy(stream));
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  cudaStream_t operator[](std::uint32_t rank) const { return streams_[rank]; }
  void wait() const {
    for (cudaStream_t stream : streams_) expect_cuda(cudaStreamSynchronize(stream));
  }

 private:
  DeviceGroup& group_;
  std::vector<cudaStream_t> streams_;
};

const LoadedSchedule* load(DeviceGroup& group, const char* name) {
  const Algorithm* algorithm = find_algorithm(Collective::all_reduce, name);
  return group.schedules()
      .load(*algorithm, {.collective = Collective::all_reduce, .num_ranks = group.num_ranks()})
      .value();
}
constexpr Operator kSum = {.op = Op::sum, .type = Type::i32};

void expect_working() {
  auto group = DeviceGroup::create({.num_ranks = 2, .timeout = 30});
  ASSERT_TRUE(group.ok()) << group.status().to_string();
  ExactRanks(**group, 4000, 1).expect_right({load(**group, "two_shot"), Type::f32, Op::sum, 1000});
}

// Sums in place, again and again. An element's first call sums it; each later one multiplies it by the number of ranks.
struct Running {
  explicit Running(std::uint32_t num_ranks) : times(kMost, 0) {
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      std::vector<std::uint32_t> values(kMost);
      for (std::uint32_t i = 0; i < kMost; ++i) values[i] = (i * 2654435761U + rank * 40503U) | 1U;
      for (std::uint32_t i = 0; i < kMost; ++i) sums.resize(kMost, 0), sums[i] += values[i];
      Bytes bytes(kMost * 4);
      std::memcpy(bytes.data(), values.data(), bytes.size());
      memory.push_back(std::make_unique<DeviceBytes>(kMost * 4));
      memory.back()->set(bytes);
    }
  }
  // After a call of the first `count` elements.
  void note(std::uint64_t count, std::uint32_t num_ranks) {
    for (std::uint64_t i = 0; i < count; ++i)
      if (++times[i] > 1) sums[i] *= num_ranks;
  }
  void expect_right(std::uint32_t rank) const {
    std::vector<std::uint32_t> got(kMost);
    std::memcpy(got.data(), memory[rank]->get(kMost * 4).data(), kMost * 4);
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < kMost; ++i) wrong += times[i] > 0 && got[i] != sums[i] ? 1 : 0;
    EXPECT_EQ(wrong, 0U) << "rank " << rank;
  }

  static constexpr std::uint64_t kMost = 70000;
  std::vector<std::unique_ptr<DeviceBytes>> memory;
  std::vector<std::uint32_t> times;
  std::vector<std::uint32_t> sums;
};

TEST_F(Device, RanksInStreamsOfTheirOwnMayRunAhead) {
  constexpr std::array<std::uint64_t, 4> kCounts = {5000, 70000, 100, 33333};
  for (const std::uint32_t num_ranks : {2U, 3U, 5U}) {
    const auto group = group_of({.num_ranks = num_ranks});
    ASSERT_NE(group, nullptr);
    const Streams streams(*group);
    const std::vector<const LoadedSchedule*> schedules = load_all(*group, Collective::all_reduce);
    Running running(num_ranks);
    // 24 calls of two ranks double at most 23 times, so something of the 32 bits is left.
    for (int batch = 0; batch < 3; ++batch) {
      for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
        for (std::size_t call = 0; call < 8; ++call) {
          const std::uint64_t count = kCounts[(call + static_cast<std::size_t>(batch)) % kCounts.size()];
          std::byte* buffer = running.memory[rank]->data();
          const DeviceCall each = {schedules[call % schedules.size()], count, kSum, true, call % 3 == 0};
          const Status started = group->call(rank, each, {buffer, buffer}, streams[rank]);
          ASSERT_TRUE(started.ok()) << started.to_string();
          if (rank == 0) running.note(count, num_ranks);
        }
      streams.wait();
      ASSERT_TRUE(group->check().ok()) << group->check().to_string();
      for (std::uint32_t rank = 0; rank < num_ranks; ++rank) running.expect_right(rank);
    }
  }
}

TEST_F(Device, AGroupMayEndWhileARankWaits) {
  for (int again = 0; again < 3; ++again) {
    auto group = group_of({.num_ranks = 2});
    ASSERT_NE(group, nullptr);
    const Streams streams(*group);
    const DeviceBytes memory(4000);
    const DeviceCall call = {load(*group, "one_shot"), 1000, kSum, true};
    ASSERT_TRUE(group->call(0, call, {memory.data(), memory.data()}, streams[0]).ok());
    group.reset();
    expect_working();
  }
}

TEST_F(Device, GraphsReplayCalls) {
  const auto group = group_of({.num_ranks = 4});
  ASSERT_NE(group, nullptr);
  constexpr std::uint64_t kCount = 3001;
  std::vector<std::unique_ptr<DeviceBytes>> inputs;
  std::vector<std::unique_ptr<DeviceBytes>> outputs;
  std::vector<DevicePart> first;
  std::vector<DevicePart> second;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    inputs.push_back(std::make_unique<DeviceBytes>(kCount * 4));
    outputs.push_back(std::make_unique<DeviceBytes>(kCount * 8));
    first.push_back({inputs[rank]->data(), outputs[rank]->data()});
    second.push_back({inputs[rank]->data(), outputs[rank]->data(kCount * 4)});
  }
  cudaStream_t stream = nullptr;
  expect_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const LoadedSchedule* one = load(*group, "one_shot");
  const LoadedSchedule* two = load(*group, "two_shot");
  cudaGraph_t graph = nullptr;
  expect_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_TRUE(group->call_all({one, kCount, kSum}, first, stream).ok());
  EXPECT_TRUE(group->call_all({two, kCount, kSum}, second, stream).ok());
  expect_cuda(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t replay = nullptr;
  expect_cuda(cudaGraphInstantiate(&replay, graph, 0));
  for (std::int32_t round = 1; round <= 20; ++round) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const std::vector<std::int32_t> values(kCount, round * 10 + static_cast<std::int32_t>(rank));
      Bytes bytes(kCount * 4);
      std::memcpy(bytes.data(), values.data(), bytes.size());
      inputs[rank]->set(bytes);
      outputs[rank]->poison();
    }
    expect_cuda(cudaDeviceSynchronize());
    expect_cuda(cudaGraphLaunch(replay, stream));
    expect_cuda(cudaStreamSynchronize(stream));
    ASSERT_TRUE(group->check().ok()) << group->check().to_string();
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      std::vector<std::int32_t> got(2 * kCount);
      std::memcpy(got.data(), outputs[rank]->get(kCount * 8).data(), kCount * 8);
      EXPECT_EQ(got, std::vector<std::int32_t>(2 * kCount, round * 40 + 6)) << "rank " << rank;
    }
  }
  static_cast<void>(cudaGraphExecDestroy(replay));
  static_cast<void>(cudaGraphDestroy(graph));
  static_cast<void>(cudaStreamDestroy(stream));
}

// One call of rank 0 alone, and what the group says of it.
Status call_of_one(DeviceGroup& group, bool aborts) {
  const Streams streams(group);
  const DeviceBytes memory(4000);
  memory.poison();
  EXPECT_TRUE(
      group.call(0, {load(group, "one_shot"), 1000, kSum, true}, {memory.data(), memory.data()}, streams[0]).ok());
  if (aborts) group.abort();
  streams.wait();
  return group.check();
}

TEST_F(Device, ARankThatDoesNotComeIsNamedAfterTheTimeOut) {
  const auto group = group_of({.num_ranks = 2, .timeout = 0.2});
  ASSERT_NE(group, nullptr);
  const Status status = call_of_one(*group, false);
  EXPECT_EQ(status.code(), Code::timeout) << status.to_string();
  EXPECT_EQ(status.rank(), 1);
  EXPECT_EQ(status.message(), "rank 0 has waited 0.2 s for post 0 of rank 1");
  const DeviceBytes memory(4000);
  EXPECT_EQ(
      group->call(1, {load(*group, "one_shot"), 1000, kSum, true}, {memory.data(), memory.data()}, nullptr).code(),
      Code::timeout);
  expect_working();
}

TEST_F(Device, AnAbortEndsAWait) {
  const auto group = group_of({.num_ranks = 2});
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(call_of_one(*group, true).code(), Code::aborted);
  const DeviceBytes memory(4000);
  const DevicePart part = {memory.data(), memory.data()};
  EXPECT_EQ(group->call(1, {load(*group, "one_shot"), 1000, kSum, true}, part, nullptr).code(), Code::aborted);
  expect_working();
}

TEST_F(Device, CallsThatDifferAreAnError) {
  const auto group = group_of({.num_ranks = 2});
  ASSERT_NE(group, nullptr);
  const Streams streams(*group);
  const DeviceBytes memory(8000);
  const LoadedSchedule* loaded = load(*group, "one_shot");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const Status started = group->call(rank, {loaded, 100 + rank, kSum, true},
                                       {memory.data(4000 * rank), memory.data(4000 * rank)}, streams[rank]);
    EXPECT_TRUE(started.ok() || started.code() == Code::invalid_usage) << started.to_string();
  }
  streams.wait();
  EXPECT_EQ(group->check().code(), Code::invalid_usage) << group->check().to_string();
  expect_working();
}

TEST_F(Device, TooLittleMemoryIsAnError) {
  const auto group = DeviceGroup::create({.num_ranks = 2, .slots_bytes = std::uint64_t{1} << 40U});
  ASSERT_FALSE(group.ok());
  EXPECT_NE(group.status().to_string().find("of device memory for flags, slots and scratch"), std::string::npos)
      << group.status().to_string();
  expect_working();
}

TEST_F(Device, WrongArgumentsAreSaid) {
  EXPECT_EQ(DeviceGroup::create({.num_ranks = 9}).status().message(), "9 ranks on one device; it takes 1 to 8");
  EXPECT_FALSE(DeviceGroup::create({.device = 99}).ok());
  const auto group = group_of({.num_ranks = 2});
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->schedules().load(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 2}).status().code(),
            Code::unsupported);
  EXPECT_EQ(
      group->schedules().load(*find_algorithm(Collective::all_reduce, "one_shot"), {.num_ranks = 3}).status().code(),
      Code::invalid_argument);
  expect_working();
}

// By itself, since this process has no device from then on.
class LostDevice : public DeviceTest {};
TEST_F(LostDevice, IsAnErrorAndTheProcessLives) {
  const auto group = group_of({.num_ranks = 2});
  ASSERT_NE(group, nullptr);
  const DevicePart nothing = {nullptr, nullptr};
  const DeviceCall call = {load(*group, "two_shot"), 1000, kSum};
  EXPECT_TRUE(group->call_all(call, std::vector{nothing, nothing}, nullptr).ok());
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  const Status status = group->call_all(call, std::vector{nothing, nothing}, nullptr);
  EXPECT_EQ(status.code(), Code::system) << status.to_string();
  EXPECT_FALSE(DeviceGroup::create({.num_ranks = 2}).ok());
}

}  // namespace
}  // namespace tutti::device
