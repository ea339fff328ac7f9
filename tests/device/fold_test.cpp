// SPDX-License-Identifier: Apache-2.0
// For every type and operator, the code that devices fold with gives the bits of the processor's kernels. Here it is
// compiled for the host. device_test.cpp compares sums of f32 and narrowing on a device.
#include "device/walk/fold.hpp"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "data/kernel.hpp"
#include "data/type.hpp"
#include "with_element.hpp"

namespace tutti::device {
namespace {

constexpr std::uint64_t kCount = 301;

struct Ends {
  Ends(const Operator& op, std::uint32_t sources, std::uint32_t destinations, unsigned shift, std::mt19937_64& random)
      : bytes(kCount * size_of(op.type)) {
    for (std::uint32_t i = 0; i < sources; ++i) {
      std::vector<std::byte>& source = memory.emplace_back(bytes + 64);
      for (std::byte& each : source) each = static_cast<std::byte>(random() & 0xff);
      from.push_back(at(source, shift * (i % 2)));
    }
    for (std::uint32_t i = 0; i < destinations; ++i) into.push_back(at(memory.emplace_back(bytes + 64), shift));
  }
  // Vectors of vectors move; their memory does not.
  std::byte* at(std::vector<std::byte>& buffer, unsigned shift) const {
    const auto past = reinterpret_cast<std::uintptr_t>(buffer.data()) % 16;
    return buffer.data() + (16 - past) + shift;
  }
  std::size_t bytes;
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> from;
  std::vector<std::byte*> into;
};

template <class Element>
void expect_as_kernel(const Operator& op, std::uint32_t sources, bool completes, std::uint32_t raw, unsigned shift) {
  std::mt19937_64 random(sources * 7 + shift);
  Ends ends(op, sources, 2, shift * static_cast<unsigned>(size_of(op.type)), random);
  const FoldCall call = {.sources = ends.from.data(),
                         .destinations = ends.into.data(),
                         .num_sources = sources,
                         .num_destinations = 2,
                         .raw_source = raw,
                         .completes = completes,
                         .count = kCount,
                         .tile_shift = kNoTiles,
                         .first = 0,
                         .channel = 0,
                         .num_channels = 1,
                         .thread = 0,
                         .num_threads = 1};
  fold<Element>(call, op);
  std::vector<std::byte> expected(ends.bytes);
  void* destination = expected.data();
  std::vector<const void*> from(ends.from.begin(), ends.from.end());
  reduce_kernel(op.type, op.op, false)(op, {.destinations = &destination,
                                            .num_destinations = 1,
                                            .sources = from.data(),
                                            .num_sources = sources,
                                            .count = kCount,
                                            .raw_source = raw,
                                            .final = completes});
  for (const std::byte* got : ends.into)
    ASSERT_EQ(std::memcmp(got, expected.data(), ends.bytes), 0)
        << name_of(op.type) << " " << name_of(op.op) << ", " << sources << " sources, shift " << shift;
}

TEST(DeviceFold, GivesTheBitsOfTheKernels) {
  for (int type = 0; type < kNumTypes; ++type)
    for (int number = 0; number < kNumOps; ++number) {
      const Operator op = {.op = static_cast<Op>(number),
                           .type = static_cast<Type>(type),
                           .scalar = 0.75,
                           .integer_scalar = 5,
                           .divisor = 3};
      if (op.op == Op::user || !is_defined(op.op, op.type)) continue;
      with_element(op.type, [&]<class Element>(Element) {
        for (const std::uint32_t sources : {1U, 2U, 3U, 5U, 8U})
          for (const unsigned shift : {0U, 1U})
            for (const bool completes : {false, true})
              expect_as_kernel<Element>(op, sources, completes, sources / 2, shift);
      });
    }
}

}  // namespace
}  // namespace tutti::device
