// SPDX-License-Identifier: Apache-2.0
// What the kernels touch: nothing outside of their elements, at pages that cannot be touched; and copying.
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/kernel.hpp"
#include "instruction_sets.hpp"

namespace tutti {
namespace {

// One page between two that fault when touched.
class GuardedPage {
 public:
  GuardedPage() : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* mapped = mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    base_ = static_cast<std::uint8_t*>(mapped);
    EXPECT_EQ(mprotect(base_ + size_, size_, PROT_READ | PROT_WRITE), 0);
  }
  ~GuardedPage() { munmap(base_, 3 * size_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  std::uint8_t* first() { return base_ + size_; }
  std::uint8_t* last(std::size_t bytes) { return base_ + 2 * size_ - bytes; }

 private:
  std::size_t size_;
  std::uint8_t* base_ = nullptr;
};

void touch_both_ends(const Operator& op, std::uint32_t num_sources, std::uint32_t num_destinations) {
  static constexpr std::size_t kMaxCount = 140;
  std::array<GuardedPage, 5> inputs;
  std::array<GuardedPage, 2> outputs;
  for (std::size_t count = 0; count <= kMaxCount; ++count) {
    const std::size_t bytes = count * size_of(op.type);
    for (const bool at_end : {false, true}) {
      std::array<const void*, 5> sources{};
      std::array<void*, 2> destinations{};
      for (std::size_t j = 0; j < 5; ++j) sources[j] = at_end ? inputs[j].last(bytes) : inputs[j].first();
      for (std::size_t d = 0; d < 2; ++d) destinations[d] = at_end ? outputs[d].last(bytes) : outputs[d].first();
      for (const bool streaming : {false, true}) {
        reduce_kernel(op.type, op.op, streaming)(op, {.destinations = destinations.data(),
                                                      .num_destinations = num_destinations,
                                                      .sources = sources.data(),
                                                      .num_sources = num_sources,
                                                      .count = count,
                                                      .raw_source = 0,
                                                      .final = true});
      }
    }
  }
}

TEST(KernelMemory, NothingOutsideOfTheElementsIsTouched) {
  for (const std::int64_t set : available_instruction_sets()) {
    SCOPED_TRACE(hwy::TargetName(set));
    const ForcedInstructionSet forced(set);
    for (int t = 0; t < kNumTypes; ++t) {
      for (const Op op : {Op::sum, Op::maximum, Op::average, Op::premultiplied_sum, Op::product, Op::logical_or}) {
        const Operator with = {.op = op, .type = static_cast<Type>(t), .scalar = 2, .integer_scalar = 2, .divisor = 3};
        touch_both_ends(with, 1, 2);
        touch_both_ends(with, 2, 1);
        touch_both_ends(with, 2, 2);
        touch_both_ends(with, 5, 2);
      }
    }
  }
}

TEST(Copy, EveryAlignmentAndLength) {
  std::vector<std::uint8_t> from(4096);
  std::iota(from.begin(), from.end(), std::uint8_t{0});
  for (const std::int64_t set : available_instruction_sets()) {
    const ForcedInstructionSet forced(set);
    for (const bool streaming : {false, true}) {
      for (std::size_t alignment = 0; alignment < 70; alignment += 3) {
        for (const std::size_t bytes : {0U, 1U, 31U, 63U, 64U, 65U, 200U, 1000U, 3000U}) {
          std::vector<std::uint8_t> to(4096, 0xa5);
          copy(to.data() + alignment, from.data() + 5, bytes, streaming);
          std::vector<std::uint8_t> want(4096, 0xa5);
          std::memcpy(want.data() + alignment, from.data() + 5, bytes);
          ASSERT_EQ(to, want) << "alignment " << alignment << ", " << bytes << " bytes";
        }
      }
    }
  }
}

TEST(Copy, MultiCopyGoesEverywhereAndInPlaceStays) {
  std::vector<std::uint32_t> source(20000);
  std::iota(source.begin(), source.end(), 17U);
  const std::vector<std::uint32_t> want = source;
  for (const bool streaming : {false, true}) {
    std::vector<std::uint32_t> first(source.size());
    std::vector<std::uint32_t> second(source.size());
    const std::array<void*, 3> destinations = {first.data(), source.data(), second.data()};
    multi_copy(destinations.data(), 3, source.data(), source.size() * sizeof(source[0]), streaming);
    EXPECT_EQ(first, want);
    EXPECT_EQ(second, want);
    EXPECT_EQ(source, want);
  }
}

TEST(Copy, FirstTouchScalesAPremultipliedSumOnly) {
  const std::array<float, 3> values = {1, -2, 3};
  for (const bool streaming : {false, true}) {
    std::array<float, 3> result{};
    first_touch_copy({.op = Op::premultiplied_sum, .type = Type::f32, .scalar = 0.5}, result.data(), values.data(), 3,
                     streaming);
    EXPECT_EQ(result, (std::array<float, 3>{0.5, -1, 1.5}));
    first_touch_copy({.op = Op::sum, .type = Type::f32, .scalar = 0.5}, result.data(), values.data(), 3, streaming);
    EXPECT_EQ(result, values);
  }
}

}  // namespace
}  // namespace tutti
