// What the C API says of errors: the words of the last one, also where there is no memory for any.
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
