// SPDX-License-Identifier: Apache-2.0
// A communicator belongs to one thread at a time: another that calls it while one is in a call is told so.
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "ranks.hpp"

namespace tutti::test {
namespace {

const std::string kTold = "another thread is in a call of this communicator, which belongs to one at a time";

// Everything that one thread at a time may call. Nothing of it does anything.
void expect_all_refused(tuttiComm_t comm, tuttiRequest_t request) {
  int mine = 1;
  int other = 0;
  std::size_t count = 1;
  const tuttiStatistic_t* statistics = nullptr;
  const char* algorithm = nullptr;
  void* memory = nullptr;
  tuttiComm_t made = nullptr;
  tuttiRedOp_t op = tuttiSum;
  tuttiRequest_t begun = nullptr;
  const std::array results = {
      tuttiAllReduce(&mine, &other, 1, tuttiInt, tuttiSum, comm),
      tuttiBarrier(comm),
      tuttiScatterV(&mine, &count, nullptr, &other, 1, tuttiInt, 0, comm),
      tuttiSend(&mine, 1, tuttiInt, 0, comm),
      tuttiIBarrier(comm, &begun),
      tuttiIRecv(&other, 1, tuttiInt, 0, comm, &begun),
      tuttiStart(request),
      tuttiWait(&request),
      tuttiTest(&request, &other),
      tuttiRequestFree(&request),
      tuttiMemAlloc(&memory, 64, comm),
      tuttiMemFree(memory, comm),
      tuttiRedOpCreatePreMulSum(&op, &mine, tuttiInt, comm),
      tuttiRedOpDestroy(op, comm),
      tuttiCommSplit(comm, 0, 0, &made, nullptr),
      tuttiCommGetStatistics(comm, &statistics, &mine),
      tuttiGetAlgorithm("barrier", nullptr, nullptr, 0, tuttiInt, tuttiSum, 0, comm, &algorithm, &algorithm),
      tuttiCommFinalize(comm),
      tuttiCommDestroy(comm),
  };
  for (const tuttiResult_t result : results) EXPECT_EQ(words_of(result, tuttiInvalidUsage), kTold);
  EXPECT_EQ(other, 0);
  int rank = -1;
  tuttiResult_t error = tuttiInternalError;
  EXPECT_DONE(tuttiCommUserRank(comm, &rank));
  EXPECT_DONE(tuttiCommGetAsyncError(comm, &error));
  EXPECT_EQ(error, tuttiSuccess);
}

struct Intruder {
  tuttiComm_t comm = nullptr;
  tuttiRequest_t request = nullptr;
};

// An operator, which is called from within a call for certain.
void add_beside_an_intruder(void* accumulator, const void* next, size_t count, void* context) {
  const auto& intruder = *static_cast<Intruder*>(context);
  std::thread(expect_all_refused, intruder.comm, intruder.request).join();
  for (size_t i = 0; i < count; ++i) static_cast<int*>(accumulator)[i] += static_cast<const int*>(next)[i];
}

TEST(OneThread, AtATimeIsInACommunicator) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    Intruder intruder{.comm = comm};
    EXPECT_DONE(tuttiBarrierInit(comm, &intruder.request));
    tuttiRedOp_t op = tuttiSum;
    EXPECT_DONE(tuttiRedOpCreate(&op, add_beside_an_intruder, &intruder, 1, tuttiInt, comm));
    const int mine = rank + 1;
    int sum = 0;
    EXPECT_DONE(tuttiAllReduce(&mine, &sum, 1, tuttiInt, op, comm));
    EXPECT_EQ(sum, 3);
    // Whoever comes behind it is welcome.
    std::thread([&] {
      EXPECT_DONE(tuttiStart(intruder.request));
      EXPECT_DONE(tuttiWait(&intruder.request));
    }).join();
    EXPECT_DONE(tuttiRequestFree(&intruder.request));
    EXPECT_DONE(tuttiRedOpDestroy(op, comm));
  });
}

struct Busy {
  std::atomic<bool> is_in = false;
  std::atomic<bool> is_refused = false;
};

void set(std::atomic<bool>& flag) {
  flag = true;
  flag.notify_all();
}

void add_once_refused(void* accumulator, const void* next, size_t count, void* context) {
  auto& busy = *static_cast<Busy*>(context);
  set(busy.is_in);
  busy.is_refused.wait(false);
  for (size_t i = 0; i < count; ++i) static_cast<int*>(accumulator)[i] += static_cast<const int*>(next)[i];
}

// A group whose end is refused stays open, and what is in it goes on.
TEST(OneThread, AtATimeEndsAGroup) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    Busy busy;
    if (rank == 1) busy.is_refused = true;
    tuttiRedOp_t op = tuttiSum;
    EXPECT_DONE(tuttiRedOpCreate(&op, add_once_refused, &busy, 1, tuttiInt, comm));
    tuttiComm_t other = nullptr;
    EXPECT_DONE(tuttiCommSplit(comm, 0, rank, &other, nullptr));
    const int mine = rank + 1;
    int sum = 0;
    if (rank == 1) {
      EXPECT_DONE(tuttiAllReduce(&mine, &sum, 1, tuttiInt, op, comm));
      EXPECT_DONE(tuttiSend(&mine, 1, tuttiInt, 0, other));
      EXPECT_DONE(tuttiSend(&mine, 1, tuttiInt, 0, comm));
    } else {
      int heard[2] = {};
      std::atomic<bool> has_begun = false;
      std::atomic<bool> is_over = false;
      std::thread grouping([&] {
        EXPECT_DONE(tuttiGroupStart());
        EXPECT_DONE(tuttiRecv(&heard[0], 1, tuttiInt, 1, other));
        EXPECT_DONE(tuttiRecv(&heard[1], 1, tuttiInt, 1, comm));
        set(has_begun);
        busy.is_in.wait(false);
        EXPECT_EQ(words_of(tuttiGroupEnd(), tuttiInvalidUsage), kTold);
        EXPECT_EQ(words_of(tuttiGroupEnd(), tuttiInvalidUsage), kTold);
        set(busy.is_refused);
        is_over.wait(false);
        EXPECT_DONE(tuttiGroupEnd());
        EXPECT_EQ(words_of(tuttiGroupEnd(), tuttiInvalidUsage), "tuttiGroupEnd without a tuttiGroupStart");
      });
      has_begun.wait(false);
      EXPECT_DONE(tuttiAllReduce(&mine, &sum, 1, tuttiInt, op, comm));
      set(is_over);
      grouping.join();
      EXPECT_EQ(heard[0], 2);
      EXPECT_EQ(heard[1], 2);
    }
    EXPECT_EQ(sum, 3);
    EXPECT_DONE(tuttiCommDestroy(other));
    EXPECT_DONE(tuttiRedOpDestroy(op, comm));
  });
}

// In the small path nothing of the caller's runs: of two threads one is told, and then the other rank comes.
TEST(OneThread, AtATimeIsInASmallCall) {
  std::atomic<bool> is_told = false;
  run_ranks(2, [&](tuttiComm_t comm, int rank) {
    int sum = 0;
    const auto call = [&] {
      const int mine = rank + 1;
      int result = 0;
      if (tuttiAllReduce(&mine, &result, 1, tuttiInt, tuttiSum, comm) == tuttiSuccess) {
        sum = result;
        return;
      }
      EXPECT_EQ(tuttiGetLastError(nullptr), kTold);
      is_told = true;
      is_told.notify_all();
    };
    if (rank == 1) {
      is_told.wait(false);
      call();
    } else {
      std::thread first(call);
      // So that they do not come in the same nanosecond.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      call();
      first.join();
    }
    EXPECT_EQ(sum, 3);
  });
}

}  // namespace
}  // namespace tutti::test
