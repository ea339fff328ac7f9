// SPDX-License-Identifier: Apache-2.0
// Calls that are asked for over and over, which go past what was looked at the first time: what differs in any of them
// is noticed all the same.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "ranks.hpp"

namespace tutti::test {
namespace {

constexpr int kRanks = 3;
constexpr int kTimes = 4;

// Block j of rank r holds 10 r + j, and so on up by 100 a turn.
std::vector<std::int32_t> blocks_of(int rank, std::size_t count, int turn) {
  std::vector<std::int32_t> blocks;
  for (int block = 0; block < kRanks; ++block) blocks.insert(blocks.end(), count, 100 * turn + 10 * rank + block);
  return blocks;
}

TEST(Again, OtherBuffersEachTimeGiveTheirOwnResults) {
  run_ranks(kRanks, [](tuttiComm_t comm, int rank) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{5000}}) {
      for (int turn = 0; turn < kTimes; ++turn) {
        // None of them lies where one did the turn before.
        const std::vector<std::int32_t> input = blocks_of(rank, count, turn);
        std::vector<std::int32_t> output(kRanks * count + static_cast<std::size_t>(turn), -1);
        EXPECT_DONE(tuttiAlltoAll(input.data(), output.data(), count, tuttiInt32, comm));
        for (std::size_t i = 0; i < kRanks * count; ++i)
          ASSERT_EQ(output[i], 100 * turn + 10 * static_cast<int>(i / count) + rank) << count << ", turn " << turn;
        EXPECT_DONE(tuttiAllGather(input.data(), output.data(), count, tuttiInt32, comm));
        for (std::size_t i = 0; i < kRanks * count; ++i)
          ASSERT_EQ(output[i], 100 * turn + 10 * static_cast<int>(i / count)) << count << ", turn " << turn;
        for (int root = 0; root < kRanks; ++root) {
          EXPECT_DONE(tuttiBroadcast(input.data(), output.data(), count, tuttiInt32, root, comm));
          for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(output[i], 100 * turn + 10 * root);
        }
        EXPECT_DONE(tuttiReduceScatter(input.data(), output.data(), count, tuttiInt32, tuttiSum, comm));
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(output[i], 300 * turn + 30 + 3 * rank);
        EXPECT_DONE(tuttiBarrier(comm));
        // What is begun in between closes the short way, and its end opens it again.
        tuttiRequest_t request = nullptr;
        EXPECT_DONE(tuttiIAllGather(input.data(), output.data(), count, tuttiInt32, comm, &request));
        EXPECT_DONE(tuttiBarrier(comm));
        EXPECT_DONE(tuttiWait(&request));
      }
    }
  });
}

// In symmetric memory, from there, and in ordinary memory are three calls, though all else is alike.
TEST(Again, WhereBuffersLieIsAskedEachTime) {
  run_ranks(kRanks, [](tuttiComm_t comm, int rank) {
    constexpr std::size_t kCount = 6000;
    constexpr std::size_t kAll = kRanks * kCount;
    for (int turn = 0; turn < kTimes; ++turn) {
      void* memory = nullptr;
      ASSERT_EQ(tuttiMemAlloc(&memory, 2 * kAll * sizeof(std::int32_t), comm), tuttiSuccess);
      auto* const shared = static_cast<std::int32_t*>(memory);
      const std::vector<std::int32_t> input = blocks_of(rank, kCount, turn);
      std::vector<std::int32_t> output(kAll);
      std::copy(input.begin(), input.end(), shared);
      struct Pair {
        const std::int32_t* from;
        std::int32_t* to;
      };
      for (const Pair& pair : {Pair{shared, shared + kAll}, Pair{input.data(), output.data()},
                               Pair{shared, output.data()}, Pair{shared, shared + kAll}}) {
        std::fill_n(pair.to, kAll, -1);
        EXPECT_DONE(tuttiBarrier(comm));
        EXPECT_DONE(tuttiReduceScatter(pair.from, pair.to, kCount, tuttiInt32, tuttiSum, comm));
        for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(pair.to[i], 300 * turn + 30 + 3 * rank);
        EXPECT_DONE(tuttiAllReduce(pair.from, pair.to, kAll, tuttiInt32, tuttiSum, comm));
        for (std::size_t i = 0; i < kAll; ++i)
          ASSERT_EQ(pair.to[i], 300 * turn + 30 + 3 * static_cast<int>(i / kCount));
      }
      EXPECT_DONE(tuttiMemFree(memory, comm));
      // What was called in that memory before is called elsewhere now that there is none.
      std::fill(output.begin(), output.end(), -1);
      EXPECT_DONE(tuttiAllReduce(input.data(), output.data(), kAll, tuttiInt32, tuttiSum, comm));
      for (std::size_t i = 0; i < kAll; ++i) ASSERT_EQ(output[i], 300 * turn + 30 + 3 * static_cast<int>(i / kCount));
    }
  });
}

TEST(Again, MistakesAreToldBehindRightCalls) {
  run_ranks(kRanks, [](tuttiComm_t comm, int rank) {
    std::vector<std::int32_t> values = blocks_of(rank, 4, 0);
    std::vector<std::int32_t> output(values.size());
    const auto all_gather = [&](const void* from, void* to, tuttiDataType_t type) {
      return tuttiAllGather(from, to, 4, type, comm);
    };
    for (int turn = 0; turn < kTimes; ++turn) {
      EXPECT_DONE(all_gather(values.data(), output.data(), tuttiInt32));
      EXPECT_DONE(tuttiBroadcast(values.data(), output.data(), 4, tuttiInt32, 1, comm));
    }
    EXPECT_EQ(all_gather(nullptr, output.data(), tuttiInt32), tuttiInvalidArgument);
    EXPECT_EQ(all_gather(values.data(), nullptr, tuttiInt32), tuttiInvalidArgument);
    EXPECT_EQ(all_gather(values.data(), values.data() + 1, tuttiInt32), tuttiInvalidArgument);
    EXPECT_EQ(all_gather(values.data(), output.data(), tuttiNumTypes), tuttiInvalidArgument);
    EXPECT_EQ(tuttiBroadcast(values.data(), output.data(), 4, tuttiInt32, kRanks, comm), tuttiInvalidArgument);
    EXPECT_EQ(tuttiBroadcast(values.data(), output.data(), 4, tuttiInt32, -1, comm), tuttiInvalidArgument);
    EXPECT_EQ(tuttiAllGather(values.data(), output.data(), 4, tuttiInt32, nullptr), tuttiInvalidArgument);
    // None of that was heard by anybody, and one that others hear otherwise breaks it.
    EXPECT_DONE(all_gather(values.data(), output.data(), tuttiInt32));
    EXPECT_EQ(all_gather(values.data(), output.data(), rank == 0 ? tuttiFloat32 : tuttiInt32), tuttiInvalidUsage);
    EXPECT_NE(all_gather(values.data(), output.data(), tuttiInt32), tuttiSuccess);
  });
}

}  // namespace
}  // namespace tutti::test
