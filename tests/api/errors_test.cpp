// SPDX-License-Identifier: Apache-2.0
// What the C API says of errors: the words of the last one, also where there is no memory for any.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "no_memory.hpp"
#include "ranks.hpp"

namespace tutti::test {
namespace {

TEST(Errors, NeedNoMemory) {
  tuttiResult_t results[6] = {};
  bool has_words = true;
  {
    // A thread of its own has no room yet where the words go.
    std::jthread thread([&] {
      const NoMemory none;
      int number = 0;
      tuttiComm_t comm = nullptr;
      results[0] = tuttiAllReduce(nullptr, nullptr, 1, tuttiFloat, tuttiSum, nullptr);
      results[1] = tuttiAllReduce(nullptr, nullptr, 1, tuttiNumTypes, tuttiSum, nullptr);
      results[2] = tuttiGetVersion(nullptr);
      results[3] = tuttiCommCount(nullptr, &number);
      results[4] = tuttiCommUserRank(comm, nullptr);
      results[5] = tuttiSend(nullptr, 1, tuttiNumTypes, 0, nullptr);
      has_words = tuttiGetLastError(nullptr) != nullptr;
    });
  }
  for (const tuttiResult_t result : results) EXPECT_EQ(result, tuttiInvalidArgument);
  EXPECT_TRUE(has_words);
}

TEST(Errors, OfBrokenCommunicatorsNeedNoMemory) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    float values[2] = {};
    EXPECT_EQ(tuttiAllReduce(values, values, rank == 0 ? 1 : 2, tuttiFloat, tuttiSum, comm), tuttiInvalidUsage);
    tuttiResult_t what = tuttiSuccess;
    tuttiResult_t result = tuttiSuccess;
    tuttiResult_t again = tuttiSuccess;
    {
      const NoMemory none;
      result = tuttiCommGetAsyncError(comm, &what);
      again = tuttiBarrier(comm);
    }
    EXPECT_EQ(result, tuttiSuccess);
    EXPECT_EQ(what, tuttiInvalidUsage);
    EXPECT_NE(again, tuttiSuccess);
  });
}

// A warning that somebody is late would need some, in the middle of a small call.
TEST(Errors, AreNoneOfAWaitWithoutMemory) {
  run_ranks(2, [](tuttiComm_t parent, int rank) {
    const char* const variables[] = {"TUTTI_LATE_WARNING=1ms", nullptr};
    tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
    config.variables = variables;
    tuttiComm_t comm = nullptr;
    EXPECT_DONE(tuttiCommSplit(parent, 0, rank, &comm, &config));
    const float mine = 1;
    float sum = 0;
    tuttiResult_t result = tuttiSuccess;
    // So that rank 0 would warn.
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    {
      const NoMemory none;
      result = tuttiAllReduce(&mine, &sum, 1, tuttiFloat, tuttiSum, comm);
    }
    EXPECT_EQ(result, tuttiSuccess);
    EXPECT_EQ(sum, 2);
    EXPECT_DONE(tuttiCommDestroy(comm));
  });
}

// What could not be made ready uses nothing of the program's.
TEST(Errors, OfRequestsWithoutMemoryLeaveNothingBehind) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    int mine = 1;
    int folded = 0;
    const size_t sizes[2] = {1, 1};
    tuttiRequest_t request = nullptr;
    tuttiRedOp_t op = tuttiSum;
    EXPECT_DONE(tuttiRedOpCreatePreMulSum(&op, &mine, tuttiInt, comm));
    // A place to put it, with room for the block of a rank that is not the root, and no more.
    EXPECT_DONE(tuttiGatherVInit(&mine, 1, nullptr, nullptr, nullptr, tuttiInt, 1 - rank, comm, &request));
    EXPECT_DONE(tuttiRequestFree(&request));
    tuttiResult_t result = tuttiSuccess;
    {
      const NoMemory none;
      result = tuttiReduceScatterVInit(&mine, &folded, sizes, tuttiInt, op, comm, &request);
    }
    EXPECT_EQ(result, tuttiSystemError);
    EXPECT_EQ(request, nullptr);
    EXPECT_DONE(tuttiRedOpDestroy(op, comm));
  });
}

TEST(Errors, OfStartsWithoutMemoryLeaveTheRequestAsItWas) {
  run_ranks(2, [](tuttiComm_t comm, int) {
    const int mine = 1;
    int sum = 0;
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiAllReduceInit(&mine, &sum, 1, tuttiInt, tuttiSum, comm, &request));
    tuttiResult_t result = tuttiSuccess;
    // The first call of a thread makes its list of what is pending.
    std::thread([&] {
      const NoMemory none;
      result = tuttiStart(request);
    }).join();
    EXPECT_EQ(result, tuttiSystemError);
    EXPECT_DONE(tuttiStart(request));
    EXPECT_DONE(tuttiWait(&request));
    EXPECT_EQ(sum, 2);
    EXPECT_DONE(tuttiRequestFree(&request));
  });
}

TEST(Errors, StayWhereACallSucceeds) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    float value = 1;
    EXPECT_EQ(words_of(tuttiBroadcast(&value, &value, 1, tuttiFloat, 7, comm), tuttiInvalidArgument),
              "the root is rank 7; of 2 it must be 0 to 1");
    EXPECT_DONE(tuttiBarrier(comm));
    if (rank == 0) {
      EXPECT_DONE(tuttiCommAbort(comm));
    }
    tuttiResult_t what = tuttiSuccess;
    while (what == tuttiSuccess) EXPECT_EQ(tuttiCommGetAsyncError(comm, &what), tuttiSuccess);
    EXPECT_EQ(what, tuttiRemoteError);
    EXPECT_STREQ(tuttiGetLastError(comm), "the root is rank 7; of 2 it must be 0 to 1");
  });
}

}  // namespace
}  // namespace tutti::test
