// SPDX-License-Identifier: Apache-2.0
// Threads: different communicators from different threads of a process at once; and what may be asked of a communicator
// while another thread is in a call of it. Ranks meet as users' do, through the C API.
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/tutti.h>

namespace tutti {
namespace {

constexpr int kRanks = 2;

tuttiUniqueId new_id() {
  tuttiUniqueId id{};
  EXPECT_EQ(tuttiGetUniqueId(&id), tuttiSuccess) << tuttiGetLastError(nullptr);
  return id;
}

// Each rank of each group is a thread; all make their communicators, and call, at the same time.
template <typename Body>
void in_groups(int groups, const Body& body) {
  std::vector<std::jthread> threads;
  for (int group = 0; group < groups; ++group) {
    const tuttiUniqueId id = new_id();
    for (int rank = 0; rank < kRanks; ++rank)
      threads.emplace_back([id, group, rank, &body] {
        tuttiComm_t comm = nullptr;
        ASSERT_EQ(tuttiCommInitRank(&comm, kRanks, id, rank), tuttiSuccess) << tuttiGetLastError(nullptr);
        body(comm, group, rank);
        EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
      });
  }
}

TEST(Threads, UseDifferentCommunicatorsAtOnce) {
  constexpr int kGroups = 4;
  constexpr std::size_t kMost = 1 << 16;
  in_groups(kGroups, [](tuttiComm_t comm, int group, int rank) {
    void* memory = nullptr;
    ASSERT_EQ(tuttiMemAlloc(&memory, 2 * kMost * sizeof(std::int32_t), comm), tuttiSuccess);
    std::vector<std::int32_t> ordinary(2 * kMost);
    for (int turn = 0; turn < 60; ++turn) {
      auto* in = turn % 3 == 0 ? static_cast<std::int32_t*>(memory) : ordinary.data();
      const std::size_t count = std::array<std::size_t, 4>{1, 100, 5000, kMost}[static_cast<std::size_t>(turn % 4)];
      const std::int32_t given = 1000 * group + turn;
      std::fill_n(in, count, given + rank);
      ASSERT_EQ(tuttiAllReduce(in, in + kMost, count, tuttiInt32, tuttiSum, comm), tuttiSuccess)
          << tuttiGetLastError(comm);
      ASSERT_EQ(std::count(in + kMost, in + kMost + count, 2 * given + 1), count);
      ASSERT_EQ(tuttiBroadcast(in, in + kMost, count, tuttiInt32, turn % kRanks, comm), tuttiSuccess);
      ASSERT_EQ(std::count(in + kMost, in + kMost + count, given + turn % kRanks), count);
      // The words of an error are the thread's own.
      ASSERT_EQ(tuttiBroadcast(in, in, count, tuttiInt32, 10 + group, comm), tuttiInvalidArgument);
      ASSERT_EQ(std::string(tuttiGetLastError(comm)).substr(0, 19), "the root is rank " + std::to_string(10 + group));
    }
    EXPECT_EQ(tuttiMemFree(memory, comm), tuttiSuccess);
  });
}

TEST(Threads, AskAndAbortACommunicatorThatIsInACall) {
  for (int turn = 0; turn < 20; ++turn) {
    in_groups(1, [turn](tuttiComm_t comm, int, int rank) {
      std::atomic<bool> calling = false;
      std::jthread other([&] {
        while (!calling) std::this_thread::yield();
        tuttiResult_t found = tuttiSuccess;
        for (int ask = 0; ask < 100 && rank == 0; ++ask) {
          EXPECT_EQ(tuttiCommGetAsyncError(comm, &found), tuttiSuccess);
          int count = 0;
          EXPECT_EQ(tuttiCommCount(comm, &count), tuttiSuccess);
          EXPECT_EQ(count, kRanks);
        }
        if (rank == 0) {
          EXPECT_EQ(tuttiCommAbort(comm), tuttiSuccess);
        }
        while (found == tuttiSuccess) EXPECT_EQ(tuttiCommGetAsyncError(comm, &found), tuttiSuccess);
        EXPECT_EQ(found, tuttiRemoteError);
      });
      std::vector<float> buffer(turn % 2 == 0 ? 2 : 100'000);
      tuttiResult_t result = tuttiSuccess;
      while (result == tuttiSuccess) {
        result = tuttiAllReduce(buffer.data(), buffer.data(), buffer.size(), tuttiFloat32, tuttiMax, comm);
        calling = true;
      }
      EXPECT_EQ(result, tuttiRemoteError);
      EXPECT_TRUE(std::string(tuttiGetLastError(comm)).starts_with("rank 0 aborted")) << tuttiGetLastError(comm);
    });
  }
}

// A call that waits for a rank that never comes ends by the abort of another thread.
TEST(Threads, AbortEndsACallThatWaits) {
  in_groups(1, [](tuttiComm_t comm, int, int rank) {
    if (rank == 1) {
      tuttiResult_t found = tuttiSuccess;
      while (found == tuttiSuccess) EXPECT_EQ(tuttiCommGetAsyncError(comm, &found), tuttiSuccess);
      return;
    }
    std::jthread aborting([comm] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));  // by then the call sleeps
      EXPECT_EQ(tuttiCommAbort(comm), tuttiSuccess);
    });
    EXPECT_EQ(tuttiBarrier(comm), tuttiRemoteError);
  });
}

}  // namespace
}  // namespace tutti
