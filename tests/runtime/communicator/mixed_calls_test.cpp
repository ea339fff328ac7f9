// SPDX-License-Identifier: Apache-2.0
// Long rows of calls in which every collective follows every other, in many sizes, roots and forms: what one leaves
// behind in lines, slots and counts must not be in the way of the next. Ranks are threads.
#include "mixed_calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "../ranks_of_threads.hpp"

namespace tutti {
namespace {

using test::Called;
using test::kMostCount;

struct Memory {
  std::vector<std::int32_t> ordinary;
  std::int32_t* symmetric = nullptr;
};

void do_call(Communicator& communicator, const Called& call, std::size_t turn, Memory& memory) {
  test::CalledBuffers buffers(call, communicator.rank(), communicator.num_ranks(), turn,
                              call.symmetric ? memory.symmetric : memory.ordinary.data());
  buffers.fill();
  const Status status = test::run_blocking(communicator, buffers.invocation());
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_EQ(buffers.fault(), "");
}

class MixedCalls : public testing::TestWithParam<test::WayToRun> {};

TEST_P(MixedCalls, AreAllRight) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 10U}) {
    const std::vector<Called> calls = test::row_of_calls(ranks, ranks, TUTTI_NUM_TURNS);
    test::ThreadRanks group(ranks, GetParam().settings());
    group.run(
        [&](Communicator& communicator) {
          Memory memory{.ordinary = std::vector<std::int32_t>(2 * kMostCount * ranks)};
          const Result<void*> allocated = communicator.allocate(2 * kMostCount * ranks * sizeof(std::int32_t));
          ASSERT_TRUE(allocated.ok()) << allocated.status().to_string();
          memory.symmetric = static_cast<std::int32_t*>(*allocated);
          for (std::size_t turn = 0; turn < calls.size(); ++turn) {
            do_call(communicator, calls[turn], turn, memory);
            if (testing::Test::HasFatalFailure()) {
              communicator.abort("a result is wrong");
              return;
            }
          }
          EXPECT_TRUE(communicator.free(memory.symmetric).ok());
        },
        [](std::uint32_t rank, Settings& own) { GetParam().change(rank, own); });
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, MixedCalls, testing::ValuesIn(test::ways_to_run()),
                         [](const auto& way) { return way.param.name; });

TEST(Calls, SayWhatIsWrongWithAnArgument) {
  test::ThreadRanks group(1);
  group.run([&](Communicator& communicator) {
    std::array<float, 16> buffer{};
    const auto message = [&](const Invocation& asked) { return communicator.run(asked).to_string(); };
    EXPECT_EQ(message({.collective = Collective::broadcast,
                       .input = buffer.data(),
                       .output = buffer.data(),
                       .count = 2,
                       .root = 3}),
              "the root is rank 3; of 1 it must be 0 to 0");
    EXPECT_EQ(message({.collective = Collective::broadcast,
                       .input = buffer.data(),
                       .output = buffer.data(),
                       .count = 2,
                       .root = 65536}),
              "the root is rank 65536; of 1 it must be 0 to 0");
    EXPECT_EQ(message({.collective = Collective::reduce,
                       .input = buffer.data(),
                       .output = buffer.data(),
                       .count = 2,
                       .op = {0x80000000U}}),
              "-2147483648 is no operator of this communicator");
    EXPECT_EQ(message({.collective = Collective::all_gather, .input = buffer.data(), .output = nullptr, .count = 2}),
              "the output is null, and 2 elements are asked for");
    EXPECT_EQ(
        message(
            {.collective = Collective::all_gather, .input = buffer.data() + 1, .output = buffer.data(), .count = 4}),
        "input and output overlap by 12 bytes; they must be the same or apart");
  });
}

// What was bound in symmetric memory is no answer for the same call elsewhere, also when there is no such memory any
// more.
TEST(Calls, AreRightInOrdinaryMemoryAfterSymmetricMemoryIsFreed) {
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    constexpr std::uint64_t kCount = 1 << 16;
    const Result<void*> memory = communicator.allocate(3 * kCount * sizeof(float));
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    std::vector<float> ordinary(3 * kCount, 1.0F);
    for (float* buffer : {static_cast<float*>(*memory), ordinary.data()}) {
      for (const Collective collective : {Collective::all_reduce, Collective::all_gather}) {
        const Status status =
            communicator.run({.collective = collective, .input = buffer, .output = buffer + kCount, .count = kCount});
        ASSERT_TRUE(status.ok()) << status.to_string();
      }
      if (buffer != ordinary.data()) {
        ASSERT_TRUE(communicator.free(buffer).ok());
      }
    }
  });
}

// Ranks that only receive have no other buffer to speak of, wherever the root has its own.
TEST(Calls, WithARootTakeNoNoticeOfBuffersThatARankHasNot) {
  test::ThreadRanks group(3);
  group.run([&](Communicator& communicator) {
    constexpr std::uint64_t kCount = 1 << 14;
    const Result<void*> memory = communicator.allocate(2 * kCount * sizeof(std::int32_t));
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    auto* shared = static_cast<std::int32_t*>(*memory);
    std::vector<std::int32_t> ordinary(kCount, 7);
    for (std::uint32_t root = 0; root < 3; ++root)
      for (const bool from_shared : {false, true}) {
        const bool is_root = communicator.rank() == root;
        const std::int32_t* input = !is_root ? nullptr : from_shared ? shared : ordinary.data();
        if (is_root) std::fill_n(from_shared ? shared : ordinary.data(), kCount, static_cast<std::int32_t>(root));
        const Status status = communicator.run({.collective = Collective::broadcast,
                                                .input = input,
                                                .output = shared + kCount,
                                                .count = kCount,
                                                .type = Type::i32,
                                                .root = root});
        ASSERT_TRUE(status.ok()) << status.to_string();
        for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(shared[kCount + i], static_cast<std::int32_t>(root));
      }
    ASSERT_TRUE(communicator.free(shared).ok());
  });
}

// A root is done when it has posted, so it is told at its next call.
TEST(Calls, ThatDifferAreAnErrorOnEveryRank) {
  for (const Collective collective : {Collective::broadcast, Collective::reduce, Collective::all_gather}) {
    test::ThreadRanks group(2);
    group.run([&](Communicator& communicator) {
      std::array<float, 8> from{};
      std::array<float, 8> to{};
      const Status status = communicator.run(
          {.collective = collective, .input = from.data(), .output = to.data(), .count = 1 + communicator.rank()});
      const Status next = communicator.run({.collective = Collective::barrier});
      EXPECT_EQ(next.code(), Code::invalid_usage) << name_of(collective) << ": " << next.to_string();
      if (!status.ok()) {
        EXPECT_NE(status.to_string().find("calls differ"), std::string::npos) << status.to_string();
      }
    });
  }
}

// How many rounds 300 KB of an all-reduce take three ranks on one core.
std::uint64_t rounds_on_one_core(const Settings& settings) {
  constexpr std::size_t kCount = 75 << 10;
  std::atomic<std::uint64_t> rounds = 0;
  test::ThreadRanks group(3, settings);
  group.run(
      [&](Communicator& communicator) {
        const std::vector<float> from(kCount, 1.0F);
        std::vector<float> to(kCount);
        const std::atomic<std::uint64_t>& finished = group.region().finished(communicator.rank()).value;
        const std::uint64_t before = finished;
        EXPECT_TRUE(communicator.all_reduce(from.data(), to.data(), kCount, Type::f32, {}).ok());
        if (communicator.rank() == 0) rounds = finished - before;
      },
      [](std::uint32_t, Settings&) {
        cpu_set_t cores;
        sched_getaffinity(0, sizeof cores, &cores);
        int first = 0;
        while (!CPU_ISSET(first, &cores)) ++first;
        CPU_ZERO(&cores);
        CPU_SET(first, &cores);
        sched_setaffinity(0, sizeof cores, &cores);
      });
  return rounds;
}

TEST(Rounds, AreAsLongWhereRanksShareCoresAsTheirSlotsStayInTheCache) {
  Settings settings = Settings::from(Variables());
  settings.caches.last = 32 << 20;
  EXPECT_EQ(rounds_on_one_core(settings), 1U);
  settings.caches.last = 3 << 20;
  EXPECT_EQ(rounds_on_one_core(settings), 3U);
  // What somebody asks for is taken, however large the cache.
  settings.caches.last = 32 << 20;
  settings.staging_slot = 64 << 10;
  EXPECT_EQ(rounds_on_one_core(settings), 5U);
}

// Of two ranks, in slots and in lines of flags, in each of the ways that there are.
TEST(Calls, WithDifferentCountsAreAnErrorOnBothRanks) {
  for (const auto& counts : {std::array{1024, 1025}, std::array{1024, 2}, std::array{2, 1024}, std::array{1024, 9000}})
    for (const char* by : {"small path", "walker", "machine"}) {
      test::ThreadRanks group(2);
      group.run([&](Communicator& communicator) {
        const auto count = static_cast<std::uint64_t>(counts[communicator.rank()]);
        const std::vector<float> from(count, 1.0F);
        std::vector<float> to(count);
        const Invocation asked{.input = from.data(), .output = to.data(), .count = count};
        // Where something pends before it, a call is gone on with in steps.
        Operation* before = nullptr;
        if (by == std::string("machine")) {
          const Result<Operation*> begun = communicator.prepare({.collective = Collective::barrier}, false);
          ASSERT_TRUE(begun.ok() && communicator.start(**begun).ok());
          before = *begun;
        }
        const Status status =
            by == std::string("walker") ? communicator.run(asked) : test::run_blocking(communicator, asked);
        EXPECT_EQ(status.code(), Code::invalid_usage)
            << by << ": " << counts[0] << ", " << counts[1] << ": " << status.to_string();
        if (before != nullptr) communicator.release(*before);
      });
    }
}

}  // namespace
}  // namespace tutti
