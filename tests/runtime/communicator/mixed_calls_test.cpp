// SPDX-License-Identifier: Apache-2.0
// Long rows of calls in which every collective follows every other, in many sizes, roots and forms: what one leaves
// behind in lines, slots and counts must not be in the way of the next. Ranks are threads.
#include "mixed_calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

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

template <typename T>
void add_in_two_parts(Communicator& communicator, Type type) {
  for (const std::size_t bytes : {2040, 2048, 2056, 4104, 8192, 8200}) {
    const std::size_t count = bytes / sizeof(T);
    std::vector<T> from(count);
    std::vector<T> to(count);
    for (std::size_t i = 0; i < count; ++i) from[i] = static_cast<T>(i % 50 + communicator.rank());
    const Status status = communicator.all_reduce(from.data(), to.data(), count, type, {});
    ASSERT_TRUE(status.ok()) << status.to_string();
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to[i], static_cast<T>(2 * (i % 50) + 1)) << bytes << ", " << i;
  }
}

TEST(Calls, ThatComeInTwoPartsAreRightOfEverySize) {
  Settings settings = Settings::from(Variables());
  settings.profile = choose_profile("amd_epyc");
  test::ThreadRanks group(2, settings);
  group.run([](Communicator& communicator) {
    add_in_two_parts<std::uint8_t>(communicator, Type::u8);
    add_in_two_parts<std::int16_t>(communicator, Type::i16);
    add_in_two_parts<float>(communicator, Type::f32);
    add_in_two_parts<double>(communicator, Type::f64);
  });
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

// Memory whose second page makes whoever reads it first wait: a rank that copies from there stops between the parts.
class LatePage {
 public:
  static constexpr std::size_t kPage = 4096;

  LatePage()
      : memory_(static_cast<std::byte*>(
            mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
  }
  ~LatePage() {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(memory_, 2 * kPage);
  }
  LatePage(const LatePage&) = delete;
  LatePage& operator=(const LatePage&) = delete;

  [[nodiscard]] std::byte* second() { return memory_ + kPage; }
  void arm() {
    late = second();
    mprotect(second(), kPage, PROT_NONE);
  }

 private:
  static void on_fault(int, siginfo_t* info, void*) {
    auto* const at = static_cast<std::byte*>(info->si_addr);
    std::byte* const page = late;
    if (at < page || at >= page + kPage) {
      signal(SIGSEGV, SIG_DFL);
      return;
    }
    const timespec while_the_other_reads{.tv_sec = 0, .tv_nsec = 50'000'000};
    nanosleep(&while_the_other_reads, nullptr);
    mprotect(page, kPage, PROT_READ | PROT_WRITE);
  }
  static inline std::atomic<std::byte*> late = nullptr;
  std::byte* memory_;
  struct sigaction before_ {};
};

// Rank 1 is late with the second part, after which rank 0 looks in each of the ways that there are.
TEST(Calls, ThatComeInTwoPartsAreReadWhole) {
  constexpr std::size_t kCount = 1024;
  constexpr std::size_t kFirst = 768;
  Settings settings = Settings::from(Variables());
  settings.profile = choose_profile("amd_epyc");
  for (const std::string by : {"small path", "walker", "machine"}) {
    LatePage late;
    test::ThreadRanks group(2, settings);
    group.run([&](Communicator& communicator) {
      std::vector<float> own(kCount, 1.0F);
      std::vector<float> to(kCount);
      // What the slots hold before.
      for (int turn = 0; turn < 4; ++turn)
        ASSERT_TRUE(communicator.all_reduce(own.data(), to.data(), kCount, Type::f32, {}).ok());
      float* const from = communicator.rank() == 0 ? own.data() : reinterpret_cast<float*>(late.second()) - kFirst;
      std::fill_n(from, kCount, 2.0F + static_cast<float>(communicator.rank()));
      const Invocation asked{.input = from, .output = to.data(), .count = kCount};
      if (communicator.rank() == 1) late.arm();
      if (communicator.rank() == 1 || by == "small path") {
        EXPECT_TRUE(test::run_blocking(communicator, asked).ok());
      } else if (by == "walker") {
        EXPECT_TRUE(communicator.run(asked).ok());
      } else {
        const Result<Operation*> begun = communicator.prepare(asked, false);
        ASSERT_TRUE(begun.ok() && communicator.start(**begun).ok());
        Result<bool> done = false;
        while (done.ok() && !*done) done = communicator.test(**begun);
        EXPECT_TRUE(done.ok());
        communicator.release(**begun);
      }
      EXPECT_EQ(to, std::vector<float>(kCount, 5.0F)) << by;
    });
  }
}

// One that comes in two parts, beside one that differs: nobody waits for a second part that nobody writes.
TEST(Calls, ThatComeInTwoPartsAndDifferAreAnErrorOnBothRanks) {
  Settings settings = Settings::from(Variables());
  settings.profile = choose_profile("amd_epyc");
  for (const auto& counts : {std::array{1024, 1025}, std::array{1024, 2}, std::array{2, 1024}, std::array{1024, 9000}})
    for (const char* by : {"small path", "walker", "machine"}) {
      test::ThreadRanks group(2, settings);
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
