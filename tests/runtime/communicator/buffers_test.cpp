// SPDX-License-Identifier: Apache-2.0
// Where buffers lie: overlaps that are no in-place form are refused before anyone waits, neighbours are not, and
// nothing needs to be aligned. Ranks are threads.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../ranks_of_threads.hpp"

namespace tutti {
namespace {

constexpr Collective kWithBuffers[] = {Collective::all_reduce,    Collective::all_gather, Collective::reduce_scatter,
                                       Collective::broadcast,     Collective::reduce,     Collective::all_to_all,
                                       Collective::gather,        Collective::scatter,    Collective::scan,
                                       Collective::exclusive_scan};

constexpr std::uint32_t kBufferRanks = 3;

struct Sizes {
  std::uint64_t input = 0;  // elements
  std::uint64_t output = 0;
};

// Of a rank that has both; others may ask for them too.
Sizes sizes_of(Collective collective, std::uint64_t count) {
  const CollectiveFacts& facts = facts_of(collective);
  return {count * (facts.many_inputs ? kBufferRanks : 1), count * (facts.many_outputs ? kBufferRanks : 1)};
}

TEST(Buffers, ThatOverlapAreRefusedAndNothingIsBroken) {
  test::ThreadRanks group(kBufferRanks);
  group.run([&](Communicator& communicator) {
    for (const Collective collective : kWithBuffers)
      for (const std::uint64_t count : {4, 1000, 50'000}) {
        const Sizes sizes = sizes_of(collective, count);
        std::vector<float> memory(2 * (sizes.input + sizes.output));
        float* const middle = memory.data() + sizes.input;
        const auto run = [&](const float* input, float* output, std::uint32_t root) {
          return communicator.run(
              {.collective = collective, .input = input, .output = output, .count = count, .root = root});
        };
        // Each rank is the root of its own call: it is refused before it says anything to anyone.
        const std::uint32_t self = communicator.rank();
        const bool has_output = collective != Collective::exclusive_scan || self > 0;
        const auto expect_refused = [&](const float* input, float* output) {
          if (!has_output) return;
          const Status status = run(input, output, self);
          EXPECT_EQ(status.code(), Code::invalid_argument) << name_of(collective) << " of " << count;
          EXPECT_NE(status.to_string().find("input and output overlap by "), std::string::npos) << status.to_string();
        };
        expect_refused(middle, middle + sizes.input - 1);
        expect_refused(middle + sizes.output - 1, middle);
        expect_refused(middle, middle + 1);
        EXPECT_TRUE(run(middle, middle + sizes.input, 0).ok()) << name_of(collective) << ", one behind the other";
        EXPECT_TRUE(run(middle + sizes.output, middle, 0).ok()) << name_of(collective) << ", one before the other";
        if (testing::Test::HasFailure()) return communicator.abort("a test has failed");
      }
  });
}

// The same call with buffers at odd addresses writes the same bytes.
template <typename Element>
void expect_alignment_not_to_matter(Communicator& communicator, Collective collective, std::uint64_t count,
                                    std::byte* symmetric, std::uint64_t most) {
  const Sizes sizes = sizes_of(collective, count);
  const std::uint64_t input_bytes = sizes.input * sizeof(Element);
  const std::uint64_t output_bytes = sizes.output * sizeof(Element);
  ASSERT_LE(input_bytes + output_bytes + 64, most);
  std::vector<Element> given(sizes.input);
  for (std::uint64_t i = 0; i < sizes.input; ++i)
    given[i] = static_cast<Element>((i * 7 + std::uint64_t{communicator.rank()} * 31) % 100);
  const auto run = [&](std::byte* input, std::byte* output) {
    std::memcpy(input, given.data(), input_bytes);
    std::memset(output, 0x5A, output_bytes + 1);
    const Status status = communicator.run({.collective = collective,
                                            .input = input,
                                            .output = output,
                                            .count = count,
                                            .type = sizeof(Element) == 8 ? Type::f64 : Type::i32,
                                            .root = 1});
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(output[output_bytes], std::byte{0x5A}) << "written behind the end";
    return std::vector<std::byte>(output, output + output_bytes);
  };
  std::vector<std::byte> ordinary(most);
  const auto right = run(ordinary.data(), ordinary.data() + input_bytes + 16);
  EXPECT_EQ(run(ordinary.data() + 1, ordinary.data() + input_bytes + 19), right) << name_of(collective) << " " << count;
  EXPECT_EQ(run(symmetric + 3, symmetric + input_bytes + 8 + 1), right)
      << name_of(collective) << " " << count << " in symmetric memory";
}

TEST(Buffers, NeedNoAlignment) {
  for (const std::uint64_t attach_min : {std::uint64_t{1}, std::uint64_t{1} << 30}) {
    Settings settings = Settings::from(Variables());
    settings.attach_min = attach_min;
    test::ThreadRanks group(kBufferRanks, settings);
    group.run([&](Communicator& communicator) {
      constexpr std::uint64_t kMost = std::uint64_t{8} << 20;
      const Result<void*> memory = communicator.allocate(kMost);
      ASSERT_TRUE(memory.ok()) << memory.status().to_string();
      auto* symmetric = static_cast<std::byte*>(*memory);
      for (const Collective collective : kWithBuffers)
        for (const std::uint64_t count : {1, 7, 5000, 20'001}) {
          expect_alignment_not_to_matter<std::int32_t>(communicator, collective, count, symmetric, kMost);
          expect_alignment_not_to_matter<double>(communicator, collective, count, symmetric, kMost);
        }
      EXPECT_TRUE(communicator.free(*memory).ok());
    });
  }
}

}  // namespace
}  // namespace tutti
