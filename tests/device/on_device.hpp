// SPDX-License-Identifier: Apache-2.0
// For tests that need a device: memory on it, filled and looked at there, and the ranks' buffers of a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "data/exact.hpp"
#include "device/cuda/device_group.hpp"
#include "device/kernels/kernels.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti::device {

inline void expect_cuda(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

// Skips where there is no device.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0)
      GTEST_SKIP() << "there is no CUDA device: " << cudaGetErrorString(error);
  }
  static std::unique_ptr<DeviceGroup> group_of(DeviceOptions options) {
    if (options.timeout == 0) options.timeout = 20;
    auto group = DeviceGroup::create(options);
    EXPECT_TRUE(group.ok()) << group.status().to_string();
    return group.ok() ? std::move(*group) : nullptr;
  }
};

class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) : bytes_(bytes) { expect_cuda(cudaMalloc(&memory_, bytes + kSpare)); }
  ~DeviceBytes() { static_cast<void>(cudaFree(memory_)); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  [[nodiscard]] std::byte* data(std::size_t shift = 0) const { return static_cast<std::byte*>(memory_) + shift; }
  void poison() const { expect_cuda(cudaMemset(memory_, 0xa5, bytes_ + kSpare)); }
  void set(const std::vector<std::byte>& bytes, std::size_t shift = 0) const {
    expect_cuda(cudaMemcpy(data(shift), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] std::vector<std::byte> get(std::size_t bytes, std::size_t shift = 0) const {
    std::vector<std::byte> got(bytes);
    expect_cuda(cudaMemcpy(got.data(), data(shift), bytes, cudaMemcpyDeviceToHost));
    return got;
  }
  // Whether what lies before and behind these bytes is still poison.
  [[nodiscard]] bool is_untouched_around(std::size_t begin, std::size_t end) const {
    const auto is_poison = [](std::byte each) { return each == std::byte{0xa5}; };
    const std::vector<std::byte> before = get(begin);
    const std::vector<std::byte> behind = get(std::min<std::size_t>(bytes_ + kSpare - end, 4096), end);
    return std::all_of(before.begin(), before.end(), is_poison) && std::all_of(behind.begin(), behind.end(), is_poison);
  }

 private:
  static constexpr std::size_t kSpare = 64;
  std::size_t bytes_;
  void* memory_ = nullptr;
};

// Exact inputs and what must come of them, which repeat, so that a period of each is enough.
class Exact {
 public:
  Exact() : period_(kExactPeriod * 8), wrong_(sizeof(unsigned long long)) {}

  // A rank's input block.
  void fill(const ExactInput& input, std::uint32_t rank, std::uint32_t block, std::uint64_t count, std::byte* to) {
    std::vector<std::byte> period = period_of(input.type);
    exact_fill(input, static_cast<int>(rank), 0, kExactPeriod, period.data());
    period_.set(period);
    run(fill_kernel(), input.type, count, first_of(block), to, nullptr);
  }
  // The number of wrong bytes of a result that folds `block` of all ranks, or is that of one rank.
  std::uint64_t wrong(const ExactInput& input, std::optional<std::uint32_t> rank, std::uint32_t block,
                      std::uint64_t count, std::byte* of) {
    std::vector<std::byte> period = period_of(input.type);
    if (rank) {
      exact_fill(input, static_cast<int>(*rank), 0, kExactPeriod, period.data());
    } else {
      exact_expected(input, 0, kExactPeriod, period.data());
    }
    period_.set(period);
    expect_cuda(cudaMemset(wrong_.data(), 0, sizeof(unsigned long long)));
    run(check_kernel(), input.type, count, first_of(block), of, wrong_.data());
    unsigned long long number = 0;
    expect_cuda(cudaMemcpy(&number, wrong_.data(), sizeof number, cudaMemcpyDeviceToHost));
    return number;
  }

 private:
  // Blocks of a rank differ.
  static std::uint64_t first_of(std::uint32_t block) { return std::uint64_t{block} * 131; }
  static std::vector<std::byte> period_of(Type type) { return std::vector<std::byte>(kExactPeriod * size_of(type)); }

  void run(Kernel kernel, Type type, std::uint64_t count, std::uint64_t first, std::byte* memory, std::byte* wrong) {
    if (count == 0) return;
    std::byte* period = period_.data();
    std::uint32_t length = kExactPeriod;
    auto element = static_cast<std::uint32_t>(size_of(type));
    std::vector<void*> parameters = {&memory, &period, &length, &element, &count, &first, &wrong};
    const std::uint64_t blocks = std::clamp<std::uint64_t>(count * element / 1024, 1, 2048);
    expect_cuda(
        cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(256), parameters.data(), 0, nullptr));
    expect_cuda(cudaStreamSynchronize(nullptr));
  }

  DeviceBytes period_;
  DeviceBytes wrong_;
};

// A call of a schedule, with exact inputs.
struct ExactCall {
  const LoadedSchedule* loaded = nullptr;
  Type type = Type::f32;
  Op op = Op::sum;
  std::uint64_t count = 1;
  bool in_place = false;
  bool generic = false;
  std::size_t shift = 0;  // bytes that buffers lie behind a multiple of 256
};

class ExactRanks {
 public:
  // Blocks of at most that many bytes, `blocks` of them.
  ExactRanks(DeviceGroup& group, std::size_t bytes, std::uint32_t blocks) : group_(group) {
    for (std::uint32_t rank = 0; rank < group.num_ranks(); ++rank) {
      inputs_.push_back(std::make_unique<DeviceBytes>(bytes * blocks));
      outputs_.push_back(std::make_unique<DeviceBytes>(bytes * blocks));
    }
  }

  void expect_right(const ExactCall& call) {
    const Schedule& schedule = call.loaded->schedule();
    const ExactInput input = {call.type, call.op, static_cast<int>(schedule.num_ranks), call.count};
    std::vector<DevicePart> parts;
    for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) parts.push_back(prepare(call, input, rank));
    const DeviceCall device_call = {.schedule = call.loaded,
                                    .count = call.count,
                                    .op = exact_operator(input, 0),
                                    .in_place = call.in_place,
                                    .generic = call.generic};
    const std::string words = fmt::format("{} by {}, {} of {} {}, {} ranks, in place {}, generic {}",
                                          name_of(schedule.collective), schedule.name, name_of(call.op), call.count,
                                          name_of(call.type), schedule.num_ranks, call.in_place, call.generic);
    const Status started = group_.call_all(device_call, parts, nullptr);
    ASSERT_TRUE(started.ok()) << words << ": " << started.to_string();
    expect_cuda(cudaStreamSynchronize(nullptr));
    ASSERT_TRUE(group_.check().ok()) << words << ": " << group_.check().to_string();
    for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank)
      expect_output(call, input, rank, parts[rank], words);
  }

 private:
  DevicePart prepare(const ExactCall& call, const ExactInput& input, std::uint32_t rank) {
    const Schedule& schedule = call.loaded->schedule();
    const std::size_t block = call.count * size_of(call.type);
    outputs_[rank]->poison();
    const Operator op = exact_operator(input, static_cast<int>(rank));
    DevicePart part = {.input = inputs_[rank]->data(call.shift),
                       .output = outputs_[rank]->data(call.shift),
                       .scalar = op.scalar,
                       .integer_scalar = op.integer_scalar};
    const CollectiveFacts& facts = facts_of(schedule.collective);
    if (call.in_place) {
      part.input = part.output;
      if (facts.many_outputs && !facts.many_inputs) part.input = outputs_[rank]->data(call.shift) + rank * block;
      if (facts.many_inputs && !facts.many_outputs) part.output = outputs_[rank]->data(call.shift) + rank * block;
    }
    for (std::uint32_t each = 0; each < schedule.division(Space::input).blocks; ++each)
      if (has_block(schedule, rank, Space::input, each))
        exact_.fill(input, rank, each, call.count,
                    static_cast<std::byte*>(const_cast<void*>(part.input)) + each * block);
    return part;
  }

  void expect_output(const ExactCall& call, const ExactInput& input, std::uint32_t rank, const DevicePart& part,
                     const std::string& words) {
    const Schedule& schedule = call.loaded->schedule();
    const std::size_t block = call.count * size_of(call.type);
    const std::uint32_t blocks =
        std::max(schedule.division(Space::output).blocks, call.in_place ? schedule.division(Space::input).blocks : 0);
    EXPECT_TRUE(outputs_[rank]->is_untouched_around(call.shift, call.shift + blocks * block)) << words;
    for (std::uint32_t each = 0; !call.in_place && each < schedule.division(Space::input).blocks; ++each)
      if (has_block(schedule, rank, Space::input, each)) {
        EXPECT_EQ(exact_.wrong(input, rank, each, call.count, inputs_[rank]->data(call.shift) + each * block), 0U)
            << words << ", the input of rank " << rank;
      }
    for (std::uint32_t each = 0; each < schedule.division(Space::output).blocks; ++each) {
      const auto expected = expected_output(schedule, rank, {each, 0});
      if (!expected) continue;
      std::optional<std::uint32_t> from;
      if (!facts_of(schedule.collective).folds) from = expected->first;
      EXPECT_EQ(exact_.wrong(input, from, expected->origin.block, call.count,
                             static_cast<std::byte*>(part.output) + each * block),
                0U)
          << words << ", rank " << rank << ", block " << each;
    }
  }

  DeviceGroup& group_;
  Exact exact_;
  std::vector<std::unique_ptr<DeviceBytes>> inputs_;
  std::vector<std::unique_ptr<DeviceBytes>> outputs_;
};

// The direct algorithms of a collective that devices run, made with their usual parameters.
inline std::vector<const LoadedSchedule*> load_all(DeviceGroup& group, Collective collective, std::uint32_t root = 0) {
  std::vector<const LoadedSchedule*> loaded;
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    if (algorithm->takes.groups) continue;
    if (algorithm->channel != Channel::staged && algorithm->channel != Channel::symmetric) continue;
    const Request request = {.collective = collective, .num_ranks = group.num_ranks(), .root = root};
    auto one = group.schedules().load(*algorithm, request);
    EXPECT_TRUE(one.ok()) << one.status().to_string();
    if (one.ok()) loaded.push_back(*one);
  }
  return loaded;
}

}  // namespace tutti::device
