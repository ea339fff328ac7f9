// SPDX-License-Identifier: Apache-2.0
// All-reduce through a communicator, ranks as threads: every size class, types, operators, edges, and what happens
// when ranks do not agree.
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ranks_of_threads.hpp"

namespace tutti {
namespace {

// Integers, so that any order gives the same sum: rank r holds r + i.
void expect_sum(Communicator& communicator, std::uint64_t count, bool in_place) {
  const std::uint32_t ranks = communicator.num_ranks();
  std::vector<std::int32_t> input(count + 1);
  std::iota(input.begin(), input.end(), static_cast<std::int32_t>(communicator.rank()));
  std::vector<std::int32_t> output(count + 1, -1);
  std::int32_t* target = in_place ? input.data() : output.data();
  target[count] = -7;
  const Status status = communicator.all_reduce(input.data(), target, count, Type::i32, test::handle(Op::sum));
  ASSERT_TRUE(status.ok()) << status.to_string();
  const auto offset = static_cast<std::int32_t>(ranks * (ranks - 1) / 2);
  // Without an assertion a time, which sanitizers make long.
  std::uint64_t right = 0;
  while (right < count && target[right] == static_cast<std::int32_t>(right * ranks) + offset) ++right;
  ASSERT_EQ(right, count) << "the first wrong element is " << target[right];
  ASSERT_EQ(target[count], -7) << "written behind the end";
}

TEST(AllReduce, IsRightForEverySizeAndNumberOfRanks) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 7U}) {
    test::ThreadRanks group(ranks);
    group.run([&](Communicator& communicator) {
      for (const std::uint64_t count : {0U, 1U, 2U, 3U, 11U, 12U, 13U, 100U, 1000U, 16384U, 16385U, 40000U, 100001U})
        for (const bool in_place : {false, true}) expect_sum(communicator, count, in_place);
    });
  }
}

TEST(AllReduce, IsRightWhenSizesAlternateSoThatAlgorithmsFollowEachOther) {
  test::ThreadRanks group(3);
  group.run([&](Communicator& communicator) {
    for (int turn = 0; turn < TUTTI_NUM_TURNS; ++turn) {
      expect_sum(communicator, 1 + static_cast<std::uint64_t>(turn % 3), false);
      expect_sum(communicator, 20000 + static_cast<std::uint64_t>(turn), turn % 2 == 0);
      expect_sum(communicator, 50000, false);
    }
  });
}

TEST(AllReduce, InSymmetricMemoryIsRight) {
  for (const std::uint32_t ranks : {2U, 3U, 4U}) {
    test::ThreadRanks group(ranks);
    group.run([&](Communicator& communicator) {
      constexpr std::uint64_t kCount = 50001;
      const Result<void*> memory = communicator.allocate(2 * kCount * sizeof(std::int32_t));
      ASSERT_TRUE(memory.ok()) << memory.status().to_string();
      auto* input = static_cast<std::int32_t*>(*memory);
      for (int turn = 0; turn < 3; ++turn)
        for (const bool in_place : {false, true}) {
          // Out of place the two halves swap, so that offsets differ from call to call.
          std::int32_t* output = in_place ? input : input + kCount;
          for (std::uint64_t i = 0; i < kCount; ++i) input[i] = static_cast<std::int32_t>(i + communicator.rank());
          const Status status = communicator.all_reduce(input, output, kCount, Type::i32, test::handle(Op::sum));
          ASSERT_TRUE(status.ok()) << status.to_string();
          const auto offset = static_cast<std::int32_t>(ranks * (ranks - 1) / 2);
          for (std::uint64_t i = 0; i < kCount; ++i)
            ASSERT_EQ(output[i], static_cast<std::int32_t>(i * ranks) + offset) << i;
        }
      ASSERT_TRUE(communicator.free(*memory).ok());
    });
  }
}

TEST(AllReduce, AverageDividesOnceOnEveryPath) {
  for (const std::string_view algorithm : {"one_shot", "ring", ""}) {
    Settings settings = Settings::from(Variables());
    settings.forced_of(Collective::all_reduce).name = algorithm;
    test::ThreadRanks group(4, settings);
    group.run([&](Communicator& communicator) {
      for (const std::uint64_t count : {1U, 1000U, 100000U}) {
        const std::vector<float> input(count, static_cast<float>(communicator.rank()));
        std::vector<float> output(count);
        ASSERT_TRUE(
            communicator.all_reduce(input.data(), output.data(), count, Type::f32, test::handle(Op::average)).ok());
        for (const float value : output) ASSERT_EQ(value, 1.5F) << algorithm << " " << count;
      }
    });
  }
}

TEST(AllReduce, PreMultipliedSumScalesEachRanksInputOnceOnEveryPath) {
  for (const std::string_view algorithm : {"one_shot", "ring", ""}) {
    Settings settings = Settings::from(Variables());
    settings.forced_of(Collective::all_reduce).name = algorithm;
    test::ThreadRanks group(3, settings);
    group.run([&](Communicator& communicator) {
      const auto rank = static_cast<double>(communicator.rank());
      const Result<OperatorHandle> op =
          communicator.create_operator({.op = Op::premultiplied_sum, .type = Type::f32, .scalar = rank + 1});
      ASSERT_TRUE(op.ok());
      for (const std::uint64_t count : {1U, 1000U, 100000U}) {
        const std::vector<float> input(count, 2.0F);
        std::vector<float> output(count);
        const Status status = communicator.all_reduce(input.data(), output.data(), count, Type::f32, *op);
        ASSERT_TRUE(status.ok()) << status.to_string();
        for (const float value : output) ASSERT_EQ(value, 12.0F) << algorithm << " " << count;
      }
    });
  }
}

// a ∘ b = a: associative, not commutative; folded in rank order it gives rank 0's input.
void keep_first(void*, const void*, std::size_t, void*) {}

TEST(AllReduce, FoldsANonCommutativeOperatorInRankOrder) {
  test::ThreadRanks group(4);
  group.run([&](Communicator& communicator) {
    const Result<OperatorHandle> op =
        communicator.create_operator({.op = Op::user, .type = Type::i32, .function = keep_first, .commutative = false});
    ASSERT_TRUE(op.ok());
    for (const std::uint64_t count : {1U, 1000U, 100000U}) {
      const std::vector<std::int32_t> input(count, static_cast<std::int32_t>(communicator.rank() + 10));
      std::vector<std::int32_t> output(count);
      ASSERT_TRUE(communicator.all_reduce(input.data(), output.data(), count, Type::i32, *op).ok());
      for (const std::int32_t value : output) ASSERT_EQ(value, 10);
    }
  });
}

TEST(AllReduce, SaysWhatIsWrongWithAnArgument) {
  test::ThreadRanks group(1);
  group.run([&](Communicator& communicator) {
    std::array<float, 8> buffer{};
    const auto message = [&](const void* in, void* out, std::uint64_t count, Type type, OperatorHandle op) {
      return communicator.all_reduce(in, out, count, type, op).to_string();
    };
    EXPECT_EQ(message(nullptr, buffer.data(), 3, Type::f32, test::handle(Op::sum)),
              "the input is null, and 3 elements are asked for");
    EXPECT_EQ(message(nullptr, buffer.data(), 1, Type::f32, test::handle(Op::sum)),
              "the input is null, and 1 element is asked for");
    EXPECT_EQ(message(buffer.data(), buffer.data() + 1, 4, Type::f32, test::handle(Op::sum)),
              "input and output overlap by 12 bytes; they must be the same or apart");
    EXPECT_EQ(message(buffer.data(), buffer.data(), 4, Type::f32, test::handle(Op::bit_and)),
              "the operator bit_and is not defined on f32");
    EXPECT_EQ(message(buffer.data(), buffer.data(), 4, Type::f32, {70}), "70 is no operator of this communicator");
    EXPECT_EQ(message(buffer.data(), buffer.data(), kMaxCount + 1, Type::f32, test::handle(Op::sum)),
              "17179869184 elements are too many; 17179869183 are possible");
  });
}

// Each pair of calls differs in one thing; both ranks must be told, whichever path they take.
TEST(AllReduce, DifferingCallsAreAnErrorThatSaysHowTheyDiffer) {
  struct Calls {
    std::uint64_t count[2];
    Type type[2];
    Op op[2];
    std::string algorithm;
    const char* expected;
  };
  const Calls pairs[] = {
      {{2, 3}, {Type::f32, Type::f32}, {Op::sum, Op::sum}, "", "3 f32 elements, sum"},
      {{4, 4}, {Type::f32, Type::i32}, {Op::sum, Op::sum}, "", "4 i32 elements, sum"},
      {{4, 4}, {Type::f32, Type::f32}, {Op::sum, Op::maximum}, "", "4 f32 elements, maximum"},
      {{100000, 90000}, {Type::f32, Type::f32}, {Op::sum, Op::sum}, "", "90000 f32 elements, sum"},
      {{100000, 2}, {Type::f32, Type::f32}, {Op::sum, Op::sum}, "", "100000 f32 elements, sum"},
      {{100000, 90000}, {Type::f32, Type::f32}, {Op::sum, Op::sum}, "ring", "90000 f32 elements, sum"},
  };
  for (const Calls& calls : pairs) {
    Settings settings = Settings::from(Variables());
    settings.forced_of(Collective::all_reduce).name = calls.algorithm;
    test::ThreadRanks group(2, settings);
    std::array<std::string, 2> messages;
    group.run([&](Communicator& communicator) {
      const std::uint32_t rank = communicator.rank();
      std::vector<double> buffer(100000);
      const Status status = communicator.all_reduce(buffer.data(), buffer.data(), calls.count[rank], calls.type[rank],
                                                    test::handle(calls.op[rank]));
      EXPECT_EQ(status.code(), Code::invalid_usage) << status.to_string();
      messages[rank] = status.to_string();
      // It stays broken.
      EXPECT_FALSE(communicator.all_reduce(buffer.data(), buffer.data(), 1, Type::f32, test::handle(Op::sum)).ok());
    });
    const bool named =
        messages[0].find(calls.expected) != std::string::npos || messages[1].find(calls.expected) != std::string::npos;
    EXPECT_TRUE(named) << messages[0] << "\n" << messages[1];
  }
}

// Even ranks wait for messages, odd ranks for posts: nobody meets anybody at a flag, and each sees two that differ.
TEST(AllReduce, DifferingCallsOfManyRanksThatNeverMeetAreAnErrorToo) {
  test::ThreadRanks group(4);
  group.run([&](Communicator& communicator) {
    std::vector<float> buffer(1 << 18);
    const std::uint64_t count = communicator.rank() % 2 == 0 ? buffer.size() : 2000;
    const Status status =
        communicator.all_reduce(buffer.data(), buffer.data(), count, Type::f32, test::handle(Op::sum));
    EXPECT_EQ(status.code(), Code::invalid_usage) << status.to_string();
  });
}

TEST(AllReduce, ACallThatRunsAheadOfADifferingOneIsNotTakenForIt) {
  Settings settings = Settings::from(Variables());
  settings.walker = WalkerChoice::generic;
  for (int turn = 0; turn < 20; ++turn) {
    test::ThreadRanks group(2, settings);
    group.run([&](Communicator& communicator) {
      std::vector<double> buffer(100000);
      const std::uint64_t count = communicator.rank() == 0 ? 2 : buffer.size();
      const Status status =
          communicator.all_reduce(buffer.data(), buffer.data(), count, Type::f64, test::handle(Op::sum));
      EXPECT_EQ(status.code(), Code::invalid_usage) << status.to_string();
    });
  }
}

TEST(SymmetricMemory, RanksThatWantDifferentSizesAreTold) {
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    const Result<void*> memory = communicator.allocate(communicator.rank() == 0 ? 4096 : 1 << 20);
    ASSERT_FALSE(memory.ok());
    EXPECT_NE(memory.status().to_string().find("the least is 4096 and the greatest 1048576"), std::string::npos)
        << memory.status().to_string();
    // And nothing is lost by it.
    const Result<void*> next = communicator.allocate(4096);
    ASSERT_TRUE(next.ok()) << next.status().to_string();
    EXPECT_TRUE(communicator.free(*next).ok());
  });
}

TEST(SymmetricMemory, RanksThatFreeDifferentPartsAreTold) {
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    const Result<void*> first = communicator.allocate(4096);
    const Result<void*> second = communicator.allocate(4096);
    ASSERT_TRUE(first.ok() && second.ok());
    // NOLINTBEGIN(clang-analyzer-unix.Malloc): takes this free() for C's, and the refused ones for done
    EXPECT_EQ(communicator.free(communicator.rank() == 0 ? *first : *second).code(), Code::invalid_usage);
    EXPECT_FALSE(communicator.free(communicator.rank() == 0 ? *first : static_cast<char*>(*first) + 64).ok());
    EXPECT_TRUE(communicator.free(*first).ok());
    // NOLINTEND(clang-analyzer-unix.Malloc)
    EXPECT_TRUE(communicator.free(*second).ok());
    EXPECT_TRUE(communicator.free(nullptr).ok());
  });
}

TEST(SymmetricMemory, BuffersOfDifferentAllocationsAreAnError) {
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    constexpr std::uint64_t kCount = 1 << 16;
    const Result<void*> first = communicator.allocate(2 * kCount * sizeof(float));
    const Result<void*> second = communicator.allocate(2 * kCount * sizeof(float));
    ASSERT_TRUE(first.ok() && second.ok());
    auto* memory = static_cast<float*>(communicator.rank() == 0 ? *first : *second);
    const Status status = communicator.all_reduce(memory, memory + kCount, kCount, Type::f32, test::handle(Op::sum));
    EXPECT_EQ(status.code(), Code::invalid_usage) << status.to_string();
  });
}

// Rank 0 has found out where the buffer is before another allocation goes, rank 1 after it.
TEST(SymmetricMemory, IsTheSameToAllWhenOthersAreFreed) {
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    constexpr std::uint64_t kCount = 1 << 16;
    const Result<void*> first = communicator.allocate(4096);
    const Result<void*> second = communicator.allocate(kCount * sizeof(float));
    ASSERT_TRUE(first.ok() && second.ok());
    const Invocation asked = {.input = *second, .output = *second, .count = kCount, .op = test::handle(Op::sum)};
    Operation* early = nullptr;
    if (communicator.rank() == 0) {
      const Result<Operation*> prepared = communicator.prepare(asked, true);
      ASSERT_TRUE(prepared.ok());
      early = *prepared;
    }
    EXPECT_TRUE(communicator.free(*first).ok());
    if (early == nullptr) {
      const Status status = communicator.run(asked);
      EXPECT_TRUE(status.ok()) << status.to_string();
    } else {
      ASSERT_TRUE(communicator.start(*early).ok());
      const Status status = communicator.wait(*early);
      EXPECT_TRUE(status.ok()) << status.to_string();
      communicator.release(*early);
    }
    EXPECT_TRUE(communicator.free(*second).ok());
  });
}

TEST(AllReduce, ARankThatLeavesIsNamedToThoseWhoWaitForIt) {
  test::ThreadRanks group(3);
  group.run([&](Communicator& communicator) {
    float value = 1;
    ASSERT_TRUE(communicator.all_reduce(&value, &value, 1, Type::f32, test::handle(Op::sum)).ok());
    if (communicator.rank() == 1) return;
    const Status status = communicator.all_reduce(&value, &value, 1, Type::f32, test::handle(Op::sum));
    EXPECT_EQ(status.code(), Code::invalid_usage);
    EXPECT_NE(status.to_string().find("rank 1 has left"), std::string::npos) << status.to_string();
  });
}

TEST(AllReduce, TimeoutNamesWhoHasNotArrived) {
  Settings settings = Settings::from(Variables());
  settings.timeout = std::chrono::milliseconds(100);
  test::ThreadRanks group(2, settings);
  std::atomic<bool> over = false;
  group.run([&](Communicator& communicator) {
    if (communicator.rank() == 1) {
      over.wait(false);
      return;
    }
    float value = 1;
    const auto start = std::chrono::steady_clock::now();
    const Status status = communicator.all_reduce(&value, &value, 1, Type::f32, test::handle(Op::sum));
    EXPECT_GE(std::chrono::steady_clock::now() - start, settings.timeout);
    EXPECT_EQ(status.code(), Code::timeout);
    EXPECT_NE(status.to_string().find("rank 1 is late: not there yet"), std::string::npos) << status.to_string();
    over = true;
    over.notify_all();
  });
}

TEST(AllReduce, AForkedChildThatDestroysSpeaksForNobody) {
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    float value = 1;
    if (communicator.rank() == 1) {
      const pid_t child = fork();
      if (child == 0) {
        communicator.~Communicator();
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    }
    EXPECT_TRUE(communicator.all_reduce(&value, &value, 1, Type::f32, test::handle(Op::sum)).ok());
    EXPECT_EQ(value, 2);
  });
}

TEST(AllReduce, AMalformedScheduleIsRefusedBeforeAnyoneWaits) {
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    Schedule schedule{.name = "wrong", .num_ranks = 2, .spaces = spaces_of(Collective::all_reduce, 2)};
    schedule.lane = [](Builder& b, std::uint32_t) -> Lane { co_yield b.send(1 - b.rank(), b.input()); };
    float value = 1;
    const Status status =
        communicator.run_by(schedule, 0, {.input = &value, .output = &value, .count = 1}, WalkerChoice::automatic);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_NE(status.to_string().find("sends rank"), std::string::npos) << status.to_string();
    EXPECT_TRUE(communicator.all_reduce(&value, &value, 1, Type::f32, test::handle(Op::sum)).ok());
  });
}

TEST(AllReduce, AbortReachesARankThatWaits) {
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    float value = 1;
    if (communicator.rank() == 1) {
      communicator.abort("a test");
      return;
    }
    Status status;
    while (status.ok()) status = communicator.all_reduce(&value, &value, 1, Type::f32, test::handle(Op::sum));
    EXPECT_EQ(status.code(), Code::aborted) << status.to_string();
    EXPECT_EQ(status.rank(), 1);
  });
}

TEST(AllReduce, MoreRanksThanCoresMakeProgressAsleep) {
  Settings settings = Settings::from(Variables());
  settings.yield = std::chrono::nanoseconds(0);  // straight to sleep, so that every wake-up counts
  settings.spin = std::chrono::nanoseconds(0);
  test::ThreadRanks group(6, settings);
  group.run([&](Communicator& communicator) {
    for (int turn = 0; turn < TUTTI_NUM_TURNS / 6; ++turn) {
      expect_sum(communicator, 10, false);
      expect_sum(communicator, 50000, true);
    }
  });
}

}  // namespace
}  // namespace tutti
