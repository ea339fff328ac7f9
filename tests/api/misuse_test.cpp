// SPDX-License-Identifier: Apache-2.0
// Handles that are used too late, too early or twice: the C API reports it from their state, not from timing.
#include <array>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "ranks.hpp"

namespace tutti::test {
namespace {

// Calls that begin something, or change something, of a communicator.
std::vector<std::function<tuttiResult_t(tuttiComm_t)>> calls() {
  thread_local int value = 0;
  thread_local int sum = 0;
  thread_local std::array<tuttiRequest_t, 2> requests{};
  return {
      [](tuttiComm_t comm) { return tuttiAllReduce(&value, &sum, 1, tuttiInt, tuttiSum, comm); },
      [](tuttiComm_t comm) { return tuttiBcast(&value, 1, tuttiInt, 0, comm); },
      [](tuttiComm_t comm) { return tuttiBarrier(comm); },
      [](tuttiComm_t comm) { return tuttiSend(&value, 1, tuttiInt, 0, comm); },
      [](tuttiComm_t comm) { return tuttiIBarrier(comm, requests.data()); },
      [](tuttiComm_t comm) { return tuttiBarrierInit(comm, &requests[1]); },
      [](tuttiComm_t comm) {
        tuttiComm_t part = nullptr;
        return tuttiCommSplit(comm, 0, 0, &part, nullptr);
      },
      [](tuttiComm_t comm) {
        void* memory = nullptr;
        return tuttiMemAlloc(&memory, 64, comm);
      },
      [](tuttiComm_t comm) { return tuttiMemFree(nullptr, comm); },
      [](tuttiComm_t comm) {
        tuttiRedOp_t op = tuttiSum;
        return tuttiRedOpCreatePreMulSum(&op, &value, tuttiInt, comm);
      },
  };
}

TEST(Misuse, CallsOnADestroyedCommunicatorSaySo) {
  const std::string destroyed = "comm was destroyed (tuttiCommDestroy)";
  run_ranks(1, [&](tuttiComm_t parent, int) {
    tuttiComm_t comm = nullptr;
    EXPECT_DONE(tuttiCommSplit(parent, 0, 0, &comm, nullptr));
    EXPECT_DONE(tuttiCommDestroy(comm));
    // In the place that it had, as far as that is up to the library.
    tuttiComm_t next = nullptr;
    EXPECT_DONE(tuttiCommSplit(parent, 0, 0, &next, nullptr));
    for (const auto& call : calls()) EXPECT_EQ(words_of(call(comm), tuttiInvalidUsage), destroyed);
    int number = 0;
    tuttiResult_t result = tuttiSuccess;
    const tuttiStatistic_t* rows = nullptr;
    EXPECT_EQ(words_of(tuttiCommCount(comm, &number), tuttiInvalidUsage), destroyed);
    EXPECT_EQ(words_of(tuttiCommUserRank(comm, &number), tuttiInvalidUsage), destroyed);
    EXPECT_EQ(words_of(tuttiCommGetAsyncError(comm, &result), tuttiInvalidUsage), destroyed);
    EXPECT_EQ(words_of(tuttiCommGetStatistics(comm, &rows, &number), tuttiInvalidUsage), destroyed);
    EXPECT_EQ(words_of(tuttiCommAbort(comm), tuttiInvalidUsage), destroyed);
    EXPECT_EQ(words_of(tuttiCommFinalize(comm), tuttiInvalidUsage), destroyed);
    EXPECT_EQ(words_of(tuttiCommDestroy(comm), tuttiInvalidUsage), destroyed);
    EXPECT_DONE(tuttiBarrier(next));
    EXPECT_DONE(tuttiCommDestroy(next));
  });
}

TEST(Misuse, AGroupMayEndAfterAnotherThreadHasDestroyedItsCommunicator) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    tuttiComm_t other = nullptr;
    EXPECT_DONE(tuttiCommSplit(comm, 0, rank, &other, nullptr));
    const int mine = rank + 1;
    int sum = 0;
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(tuttiAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, other));
    std::thread([other] { EXPECT_DONE(tuttiCommDestroy(other)); }).join();
    EXPECT_EQ(sum, 3);
    EXPECT_DONE(tuttiGroupEnd());
  });
}

TEST(Misuse, CallsOnAFinalizedCommunicatorAreRefused) {
  run_ranks(2, [](tuttiComm_t parent, int rank) {
    tuttiComm_t comm = nullptr;
    EXPECT_DONE(tuttiCommSplit(parent, 0, rank, &comm, nullptr));
    const int mine = rank + 1;
    int sum = 0;
    tuttiRequest_t begun = nullptr;
    tuttiRequest_t prepared = nullptr;
    for (int turn = 0; turn < 3; ++turn) EXPECT_DONE(tuttiAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, comm));
    EXPECT_DONE(tuttiBcast(&sum, 1, tuttiInt, 0, comm));
    EXPECT_DONE(tuttiAllReduceInit(&mine, &sum, 1, tuttiInt, tuttiSum, comm, &prepared));
    EXPECT_DONE(tuttiIAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, comm, &begun));
    EXPECT_DONE(tuttiCommFinalize(comm));
    for (const auto& call : calls())
      EXPECT_EQ(words_of(call(comm), tuttiInvalidUsage),
                "the communicator was finalized (tuttiCommFinalize): no call can begin");
    EXPECT_PREFIX(words_of(tuttiStart(prepared), tuttiInvalidUsage), "the communicator was finalized");
    EXPECT_DONE(tuttiWait(&begun));
    EXPECT_EQ(sum, 3);
    EXPECT_DONE(tuttiRequestFree(&prepared));
    int number = 0;
    EXPECT_DONE(tuttiCommCount(comm, &number));
    EXPECT_EQ(number, 2);
    EXPECT_DONE(tuttiCommFinalize(comm));
    EXPECT_DONE(tuttiCommDestroy(comm));
  });
}

TEST(Misuse, AnActiveRequestIsRefusedEvenIfItsOperationIsDone) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    const int mine = rank + 1;
    int sum = 0;
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiAllReduceInit(&mine, &sum, 1, tuttiInt, tuttiSum, comm, &request));
    EXPECT_DONE(tuttiStart(request));
    EXPECT_DONE(tuttiBarrier(comm));  // behind it: now it is done on both ranks
    EXPECT_PREFIX(words_of(tuttiStart(request), tuttiInvalidUsage), "the request is active");
    EXPECT_PREFIX(words_of(tuttiRequestFree(&request), tuttiInvalidUsage), "the request is active");
    int done = 0;
    EXPECT_DONE(tuttiTest(&request, &done));
    EXPECT_EQ(done, 1);
    EXPECT_EQ(sum, 3);
    EXPECT_DONE(tuttiStart(request));
    EXPECT_DONE(tuttiWait(&request));
    EXPECT_DONE(tuttiRequestFree(&request));
  });
}

TEST(Misuse, AbortingAGroupBreaksItsCommunicators) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    EXPECT_EQ(words_of(tuttiGroupAbort(), tuttiInvalidUsage), "tuttiGroupAbort without a tuttiGroupStart");
    int heard = 0;
    if (rank == 0) {
      EXPECT_DONE(tuttiGroupStart());
      EXPECT_DONE(tuttiRecv(&heard, 1, tuttiInt, 1, comm));
      EXPECT_DONE(tuttiGroupAbort());
      EXPECT_EQ(tuttiGroupEnd(), tuttiInvalidUsage);
    }
    EXPECT_PREFIX(words_of(tuttiRecv(&heard, 1, tuttiInt, 1 - rank, comm), tuttiRemoteError),
                  "rank 0 aborted the communicator");
  });
}

}  // namespace
}  // namespace tutti::test
