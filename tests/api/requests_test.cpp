// SPDX-License-Identifier: Apache-2.0
// Requests, transfers and groups of the C API.
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ranks.hpp"

namespace tutti::test {
namespace {

TEST(Requests, AreNullOnceTheyHaveEnded) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    std::array<int, 3> mine{};
    std::array<int, 3> sums{};
    mine.fill(rank + 1);
    std::array<tuttiRequest_t, 3> requests{};
    for (std::size_t each = 0; each < requests.size(); ++each)
      EXPECT_DONE(tuttiIAllReduce(&mine[each], &sums[each], 1, tuttiInt, tuttiSum, comm, &requests[each]));
    EXPECT_DONE(tuttiWaitAll(3, requests.data()));
    EXPECT_EQ(requests, (std::array<tuttiRequest_t, 3>{}));
    EXPECT_EQ(sums, (std::array{3, 3, 3}));
    EXPECT_DONE(tuttiWait(&requests.front()));
    int done = 0;
    EXPECT_DONE(tuttiTest(&requests.front(), &done));
    EXPECT_EQ(done, 1);
  });
}

TEST(Requests, AreDoneByTestsAlone) {
  run_ranks(3, [](tuttiComm_t comm, int rank) {
    constexpr int kCount = 1 << 16;
    std::vector<float> mine(kCount, static_cast<float>(rank));
    std::vector<float> sums(kCount);
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiIAllReduce(mine.data(), sums.data(), kCount, tuttiFloat, tuttiSum, comm, &request));
    for (int done = 0; done == 0;)
      if (tuttiTest(&request, &done) != tuttiSuccess) FAIL() << tuttiGetLastError(nullptr);
    EXPECT_EQ(sums, std::vector<float>(kCount, 3.0F));
  });
}

TEST(Requests, CanBeStartedOften) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    int mine = 0;
    int sum = 0;
    int heard = -1;
    std::array<tuttiRequest_t, 3> requests{};
    auto& [all_reduce, send, receive] = requests;
    EXPECT_DONE(tuttiAllReduceInit(&mine, &sum, 1, tuttiInt, tuttiSum, comm, &all_reduce));
    EXPECT_DONE(tuttiSendInit(&mine, 1, tuttiInt, 1 - rank, comm, &send));
    EXPECT_DONE(tuttiRecvInit(&heard, 1, tuttiInt, 1 - rank, comm, &receive));
    for (int turn = 0; turn < 300; ++turn) {
      mine = turn * (rank + 1);
      for (tuttiRequest_t each : requests) EXPECT_DONE(tuttiStart(each));
      EXPECT_DONE(tuttiWaitAll(3, requests.data()));
      ASSERT_EQ(sum, 3 * turn);
      ASSERT_EQ(heard, turn * (2 - rank));
    }
    for (tuttiRequest_t& each : requests) {
      ASSERT_NE(each, nullptr);
      EXPECT_DONE(tuttiRequestFree(&each));
      EXPECT_EQ(each, nullptr);
    }
  });
}

TEST(Requests, SayHowTheyAreMisused) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    int mine = 0;
    int heard = 0;
    tuttiRequest_t request = nullptr;
    EXPECT_EQ(words_of(tuttiStart(request), tuttiInvalidArgument), "request is null");
    EXPECT_EQ(words_of(tuttiIRecv(&heard, 1, tuttiInt, 2, comm, &request), tuttiInvalidArgument),
              "the rank to receive from is 2; of 2 it must be 0 to 1");
    EXPECT_EQ(words_of(tuttiSend(nullptr, 3, tuttiInt, 0, comm), tuttiInvalidArgument),
              "the buffer is null, and 3 elements are to be sent");
    EXPECT_EQ(words_of(tuttiSend(nullptr, 1, tuttiInt, 0, comm), tuttiInvalidArgument),
              "the buffer is null, and 1 element is to be sent");
    EXPECT_EQ(words_of(tuttiSend(&mine, 1, tuttiInt, rank, comm), tuttiInvalidUsage),
              "a rank that sends to itself, or receives from itself, begins both before it waits: in a group, or with "
              "requests");
    EXPECT_EQ(request, nullptr);
    EXPECT_DONE(tuttiRecvInit(&heard, 1, tuttiInt, 1 - rank, comm, &request));
    EXPECT_DONE(tuttiStart(request));
    EXPECT_EQ(words_of(tuttiStart(request), tuttiInvalidUsage),
              "the request is active: wait for it, or test it until it is done, before it is started again");
    EXPECT_EQ(words_of(tuttiRequestFree(&request), tuttiInvalidUsage),
              "the request is active: wait for it, or test it until it is done, before it is freed");
    EXPECT_DONE(tuttiBarrier(comm));
    EXPECT_DONE(tuttiSend(&mine, 1, tuttiInt, 1 - rank, comm));
    EXPECT_DONE(tuttiWait(&request));
    EXPECT_DONE(tuttiRequestFree(&request));
    EXPECT_EQ(words_of(tuttiGroupEnd(), tuttiInvalidUsage), "tuttiGroupEnd without a tuttiGroupStart");
  });
}

TEST(Operators, MayThrowWhateverTheyLike) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    int thrower = rank;
    tuttiRedOp_t op = tuttiSum;
    EXPECT_DONE(tuttiRedOpCreate(
        &op,
        [](void*, const void*, size_t, void* context) {
          if (*static_cast<int*>(context) == 0) throw 42;
        },
        &thrower, 1, tuttiInt, comm));
    std::vector<int> data(1000, rank);
    const tuttiResult_t result = tuttiAllReduce(data.data(), data.data(), data.size(), tuttiInt, op, comm);
    if (rank == 0) {
      EXPECT_NE(words_of(result, tuttiInternalError).find("no std::exception"), std::string::npos);
    }
    // The other may have been done by then, and hears of it in its next call.
    EXPECT_EQ(tuttiBarrier(comm), tuttiInternalError);
  });
}

TEST(Transfers, ToOneselfSayWhatIsMissing) {
  run_ranks(1, [](tuttiComm_t parent, int) {
    const std::array<const char*, 2> impatient = {"TUTTI_TIMEOUT=500ms", nullptr};
    tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
    config.variables = impatient.data();
    tuttiComm_t comm = nullptr;
    ASSERT_EQ(tuttiCommSplit(parent, 0, 0, &comm, &config), tuttiSuccess) << tuttiGetLastError(nullptr);
    const std::vector<int> data(1 << 20);
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(tuttiSend(data.data(), data.size(), tuttiInt, 0, comm));
    EXPECT_PREFIX(words_of(tuttiGroupEnd(), tuttiTimeout),
                  "rank 0 has not begun the other end of it, and nobody else will; rank 0 has waited 500ms");
    tuttiCommDestroy(comm);
  });
}

TEST(Requests, ThatHaveEndedAreRefusedInEveryCopy) {
  const std::string stale = "the request has ended, or was freed, and this is a copy of it";
  run_ranks(2, [&](tuttiComm_t comm, int rank) {
    const int mine = rank + 1;
    std::array<int, 2> sums{};
    const auto begin = [&](int& sum) {
      tuttiRequest_t request = nullptr;
      EXPECT_DONE(tuttiIAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, comm, &request));
      return request;
    };
    tuttiRequest_t ended = begin(sums[0]);
    tuttiRequest_t copy = ended;
    EXPECT_DONE(tuttiWait(&ended));
    // With the place that it had.
    std::array<tuttiRequest_t, 2> next = {begin(sums[0]), begin(sums[1])};
    const tuttiRequest_t kept = copy;
    int done = 0;
    EXPECT_EQ(words_of(tuttiWait(&copy), tuttiInvalidUsage), stale);
    EXPECT_EQ(words_of(tuttiTest(&copy, &done), tuttiInvalidUsage), stale);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(words_of(tuttiStart(copy), tuttiInvalidUsage), stale);
    EXPECT_EQ(words_of(tuttiRequestFree(&copy), tuttiInvalidUsage), stale);
    EXPECT_EQ(copy, kept);
    EXPECT_DONE(tuttiWaitAll(2, next.data()));
    EXPECT_EQ(sums, (std::array{3, 3}));
    // Twice in one list.
    next.fill(begin(sums[0]));
    EXPECT_EQ(words_of(tuttiWaitAll(2, next.data()), tuttiInvalidUsage), stale);
    EXPECT_EQ(next[0], nullptr);
    tuttiRequest_t persistent = nullptr;
    EXPECT_DONE(tuttiBarrierInit(comm, &persistent));
    copy = persistent;
    EXPECT_DONE(tuttiRequestFree(&persistent));
    EXPECT_EQ(words_of(tuttiStart(copy), tuttiInvalidUsage), stale);
    EXPECT_EQ(words_of(tuttiRequestFree(&copy), tuttiInvalidUsage), stale);
  });
}

TEST(Requests, KeepTheirSymmetricMemory) {
  run_ranks(2, [&](tuttiComm_t comm, int rank) {
    void* memory = nullptr;
    EXPECT_DONE(tuttiMemAlloc(&memory, 4096, comm));
    auto* const values = static_cast<int*>(memory);
    values[0] = rank + 1;
    // One rank alone has a request on it in the end.
    std::array<tuttiRequest_t, 2> requests{};
    EXPECT_DONE(tuttiAllReduceInit(values, values + 512, 500, tuttiInt, tuttiSum, comm, requests.data()));
    if (rank == 1) {
      EXPECT_DONE(tuttiRecvInit(values + 9, 7, tuttiInt, 0, comm, &requests[1]));
    }
    EXPECT_DONE(tuttiStart(requests[0]));
    EXPECT_DONE(tuttiWait(requests.data()));
    if (rank == 0) {
      EXPECT_DONE(tuttiRequestFree(requests.data()));
    }
    for (const char* user :
         {"all_reduce of 500 i32 elements, sum, by one_shot", "receive of 7 i32 elements from rank 0"}) {
      const std::string words = words_of(tuttiMemFree(memory, comm), tuttiInvalidUsage);
      EXPECT_EQ(words, rank == 0
                           ? "rank 1 cannot free its part of the symmetric memory, and says why; nothing was freed"
                           : "symmetric memory is freed that a request of this rank uses, of " + std::string(user) +
                                 ": wait for it, or free it (tuttiRequestFree), before");
      EXPECT_EQ(values[512], 3);
      if (rank == 1) {
        EXPECT_DONE(tuttiRequestFree(requests[0] != nullptr ? requests.data() : &requests[1]));
      }
    }
    EXPECT_DONE(tuttiMemFree(memory, comm));
  });
}

TEST(Requests, KeepTheirOperator) {
  run_ranks(2, [](tuttiComm_t comm, int) {
    const float half = 0.5F;
    const float mine = 4;
    float sum = 0;
    tuttiRedOp_t op = tuttiSum;
    EXPECT_DONE(tuttiRedOpCreatePreMulSum(&op, &half, tuttiFloat, comm));
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiAllReduceInit(&mine, &sum, 1, tuttiFloat, op, comm, &request));
    EXPECT_EQ(words_of(tuttiRedOpDestroy(op, comm), tuttiInvalidUsage),
              "an operator is destroyed that a pending or persistent operation uses");
    EXPECT_DONE(tuttiStart(request));
    EXPECT_DONE(tuttiWait(&request));
    EXPECT_EQ(sum, 4);
    EXPECT_DONE(tuttiRequestFree(&request));
    EXPECT_DONE(tuttiRedOpDestroy(op, comm));
  });
}

// Rank 0 waits for the one first, rank 1 for the other, and blocks in a third: all go on in every wait.
TEST(Requests, OfSeveralCommunicatorsAreWaitedForInAnyOrder) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    std::array<tuttiComm_t, 3> comms{};
    for (tuttiComm_t& each : comms) EXPECT_DONE(tuttiCommSplit(comm, 0, rank, &each, nullptr));
    constexpr int kCount = 1 << 17;  // more than slots hold
    std::vector<int> mine(kCount, rank + 1);
    std::array<std::vector<int>, 3> sums;
    for (std::vector<int>& each : sums) each.assign(kCount, 0);
    for (int turn = 0; turn < 5; ++turn) {
      std::array<tuttiRequest_t, 2> requests{};
      for (std::size_t each = 0; each < 2; ++each)
        EXPECT_DONE(
            tuttiIAllReduce(mine.data(), sums[each].data(), kCount, tuttiInt, tuttiSum, comms[each], &requests[each]));
      if (rank == 0) {
        EXPECT_DONE(tuttiAllReduce(mine.data(), sums[2].data(), kCount, tuttiInt, tuttiSum, comms[2]));
        EXPECT_DONE(tuttiWait(&requests.front()));
        EXPECT_DONE(tuttiWait(&requests.back()));
      } else {
        EXPECT_DONE(tuttiWait(&requests.back()));
        EXPECT_DONE(tuttiWait(&requests.front()));
        EXPECT_DONE(tuttiAllReduce(mine.data(), sums[2].data(), kCount, tuttiInt, tuttiSum, comms[2]));
      }
      for (const std::vector<int>& each : sums) ASSERT_EQ(each[kCount - 1], 3);
    }
    for (tuttiComm_t each : comms) EXPECT_DONE(tuttiCommDestroy(each));
  });
}

// Making a communicator is a row of calls of its own, which go behind nothing.
TEST(Requests, MayBePendingWhileACommunicatorIsMade) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    tuttiComm_t early = nullptr;
    tuttiComm_t late = nullptr;
    EXPECT_DONE(tuttiCommSplit(comm, 0, rank, &early, nullptr));
    int heard = -1;
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiIRecv(&heard, 1, tuttiInt, 1 - rank, early, &request));
    EXPECT_DONE(tuttiCommSplit(comm, 0, rank, &late, nullptr));
    EXPECT_DONE(tuttiSend(&rank, 1, tuttiInt, 1 - rank, early));
    EXPECT_DONE(tuttiWait(&request));
    EXPECT_EQ(heard, 1 - rank);
    EXPECT_DONE(tuttiCommDestroy(late));
    EXPECT_DONE(tuttiCommDestroy(early));
  });
}

TEST(Transfers, GoRoundARingInAGroup) {
  for (const int ranks : {1, 2, 5})
    for (const std::size_t count : {std::size_t{0}, std::size_t{7}, std::size_t{50'000}})
      run_ranks(ranks, [&](tuttiComm_t comm, int rank) {
        std::vector<int> mine(count);
        std::vector<int> heard(count, -1);
        std::iota(mine.begin(), mine.end(), rank);
        EXPECT_DONE(tuttiGroupStart());
        EXPECT_DONE(tuttiSend(mine.data(), count, tuttiInt, (rank + 1) % ranks, comm));
        EXPECT_DONE(tuttiRecv(heard.data(), count, tuttiInt, (rank + ranks - 1) % ranks, comm));
        EXPECT_DONE(tuttiGroupEnd());
        std::iota(mine.begin(), mine.end(), (rank + ranks - 1) % ranks);
        EXPECT_EQ(heard, mine);
      });
}

TEST(Transfers, OfOtherCountsOrTypesAreAnError) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    std::array<int, 8> buffer{};
    if (rank == 0) {
      EXPECT_DONE(tuttiSend(buffer.data(), 5, tuttiInt, 1, comm));
      int ignored = 0;
      EXPECT_EQ(tuttiRecv(&ignored, 1, tuttiInt, 1, comm), tuttiInvalidUsage);
    } else {
      EXPECT_PREFIX(words_of(tuttiRecv(buffer.data(), 4, tuttiFloat, 0, comm), tuttiInvalidUsage),
                    "the ranks' transfers differ: rank 0 sends 5 i32 elements where rank 1 receives 4 f32 elements; "
                    "this rank was before its first collective");
    }
  });
}

TEST(Transfers, WithARankThatHasLeftAreAnError) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    int heard = 0;
    const int mine = 5;
    if (rank == 0) {
      EXPECT_DONE(tuttiSend(&mine, 1, tuttiInt, 1, comm));
      return;  // and so leaves
    }
    EXPECT_DONE(tuttiRecv(&heard, 1, tuttiInt, 0, comm));
    EXPECT_EQ(heard, 5);
    EXPECT_PREFIX(words_of(tuttiRecv(&heard, 1, tuttiInt, 0, comm), tuttiInvalidUsage),
                  "rank 0 has left the communicator and will not come to a receive of 1 i32 element from rank 0; this "
                  "rank was before its first collective");
  });
}

TEST(Requests, TestAllTestsEach) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    const int mine = rank + 1;
    int sum = 0;
    int heard = 0;
    std::array<tuttiRequest_t, 3> requests{};
    EXPECT_DONE(tuttiIAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, comm, requests.data()));
    EXPECT_DONE(tuttiIRecv(&heard, 1, tuttiInt, 1 - rank, comm, &requests[2]));
    EXPECT_DONE(tuttiBarrier(comm));
    int done = -1;
    EXPECT_DONE(tuttiTestAll(3, requests.data(), &done));
    EXPECT_EQ(done, 0);
    EXPECT_EQ(requests[0], nullptr);
    EXPECT_NE(requests[2], nullptr);
    EXPECT_DONE(tuttiBarrier(comm));
    EXPECT_DONE(tuttiSend(&mine, 1, tuttiInt, 1 - rank, comm));
    while (done == 0) EXPECT_DONE(tuttiTestAll(3, requests.data(), &done));
    EXPECT_EQ(requests, (std::array<tuttiRequest_t, 3>{}));
    EXPECT_EQ(heard, 2 - rank);
    EXPECT_EQ(words_of(tuttiTestAll(1, nullptr, &done), tuttiInvalidArgument), "requests is null");
  });
}

TEST(Requests, WaitAnyFollowsTheOrderOfCompletion) {
  run_ranks(3, [](tuttiComm_t comm, int rank) {
    std::array<int, 2> heard{};
    std::array<tuttiRequest_t, 4> requests{};
    int index = 0;
    if (rank == 0) {
      EXPECT_DONE(tuttiRecvInit(&index, 1, tuttiInt, 1, comm, &requests[1]));  // never started
      EXPECT_DONE(tuttiIRecv(heard.data(), 1, tuttiInt, 1, comm, &requests[2]));
      EXPECT_DONE(tuttiRecvInit(&heard[1], 1, tuttiInt, 2, comm, &requests[3]));
      EXPECT_DONE(tuttiStart(requests[3]));
      EXPECT_DONE(tuttiWaitAny(4, requests.data(), &index));
      EXPECT_EQ(index, 3);
      EXPECT_NE(requests[3], nullptr);
      EXPECT_DONE(tuttiSend(&rank, 1, tuttiInt, 1, comm));
      EXPECT_DONE(tuttiWaitAny(4, requests.data(), &index));
      EXPECT_EQ(index, 2);
      EXPECT_EQ(requests[2], nullptr);
      EXPECT_DONE(tuttiWaitAny(4, requests.data(), &index));
      EXPECT_EQ(index, -1);
      EXPECT_EQ(heard, (std::array{1, 2}));
      EXPECT_DONE(tuttiRequestFree(&requests[1]));
      EXPECT_DONE(tuttiRequestFree(&requests[3]));
    } else {
      if (rank == 1) {
        EXPECT_DONE(tuttiRecv(&index, 1, tuttiInt, 0, comm));
      }
      EXPECT_DONE(tuttiSend(&rank, 1, tuttiInt, 0, comm));
    }
    EXPECT_DONE(tuttiWaitAny(0, nullptr, &index));
    EXPECT_EQ(index, -1);
  });
}

TEST(Requests, WaitAnyEndsOnABrokenCommunicator) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    tuttiComm_t other = nullptr;
    EXPECT_DONE(tuttiCommDup(comm, &other));
    std::array<int, 2> heard{};
    std::array<tuttiRequest_t, 2> requests{};
    EXPECT_DONE(tuttiIRecv(heard.data(), 1, tuttiInt, 1 - rank, comm, requests.data()));
    EXPECT_DONE(tuttiIRecv(&heard[1], 1, tuttiInt, 1 - rank, other, &requests[1]));
    EXPECT_DONE(tuttiBarrier(comm));
    if (rank == 1) {
      EXPECT_DONE(tuttiCommAbort(other));
    }
    int index = -1;
    EXPECT_PREFIX(words_of(tuttiWaitAny(2, requests.data(), &index), tuttiRemoteError),
                  "rank 1 aborted the communicator");
    EXPECT_EQ(index, 1);
    EXPECT_EQ(requests[1], nullptr);
    EXPECT_DONE(tuttiCommDestroy(other));
    EXPECT_DONE(tuttiBarrier(comm));
    EXPECT_DONE(tuttiSend(&rank, 1, tuttiInt, 1 - rank, comm));
    EXPECT_DONE(tuttiWaitAll(2, requests.data()));
    EXPECT_EQ(heard[0], 1 - rank);
  });
}

TEST(Transfers, SendAndReceiveAtOnce) {
  run_ranks(3, [](tuttiComm_t comm, int rank) {
    constexpr int kCount = 100'000;  // more than a send can leave behind
    const std::vector<int> mine(kCount, rank);
    std::vector<int> heard(kCount, -1);
    const int left = (rank + 2) % 3;
    EXPECT_DONE(tuttiSendRecv(mine.data(), kCount, (rank + 1) % 3, heard.data(), kCount, left, tuttiInt, comm));
    EXPECT_EQ(heard, std::vector<int>(kCount, left));
    EXPECT_DONE(tuttiSendRecv(mine.data(), 7, rank, heard.data(), 7, rank, tuttiInt, comm));
    EXPECT_EQ(heard[6], rank);
    EXPECT_EQ(heard[7], left);
    EXPECT_EQ(words_of(tuttiSendRecv(mine.data(), 7, left, heard.data(), 7, 3, tuttiInt, comm), tuttiInvalidArgument),
              "the rank to receive from is 3; of 3 it must be 0 to 2");
    EXPECT_DONE(tuttiBarrier(comm));
  });
}

TEST(Transfers, ThatWaitForEachOtherAreNotCalledLate) {
  run_ranks(2, [](tuttiComm_t parent, int rank) {
    const std::array<const char*, 2> impatient = {"TUTTI_TIMEOUT=200ms", nullptr};
    tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
    config.variables = impatient.data();
    tuttiComm_t comm = nullptr;
    ASSERT_EQ(tuttiCommSplit(parent, 0, rank, &comm, &config), tuttiSuccess) << tuttiGetLastError(nullptr);
    int heard = 0;
    const std::string words = words_of(tuttiRecv(&heard, 1, tuttiInt, 1 - rank, comm), tuttiTimeout);
    // Both hear the words of whoever gave up first.
    const auto is_told = [&](int waiting, int by) {
      return words.find(fmt::format(
                 "rank {} waits in a receive of 1 i32 element from rank {}: they wait for each other", waiting, by)) !=
             std::string::npos;
    };
    EXPECT_TRUE(is_told(0, 1) || is_told(1, 0)) << words;
    EXPECT_NE(words.find("(TUTTI_TIMEOUT) in a receive of 1 i32 element from rank"), std::string::npos) << words;
    tuttiCommDestroy(comm);
  });
}

TEST(Groups, BeginNoSendOfAnExchangeThatIsRefused) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    const int mine = rank + 1;
    int heard = 0;
    ASSERT_EQ(tuttiGroupStart(), tuttiSuccess);
    if (rank == 0) {
      EXPECT_EQ(tuttiSendRecv(&mine, 1, 1, &heard, 1, 7, tuttiInt, comm), tuttiInvalidArgument);
    }
    EXPECT_EQ(tuttiSendRecv(&mine, 1, 1 - rank, &heard, 1, 1 - rank, tuttiInt, comm), tuttiSuccess);
    ASSERT_EQ(tuttiGroupEnd(), tuttiSuccess) << tuttiGetLastError(nullptr);
    EXPECT_EQ(heard, 2 - rank);
    // A send that was begun in vain would be what comes here.
    const int next = 10 * mine;
    ASSERT_EQ(tuttiSendRecv(&next, 1, 1 - rank, &heard, 1, 1 - rank, tuttiInt, comm), tuttiSuccess);
    EXPECT_EQ(heard, 10 * (2 - rank));
  });
}

TEST(Groups, OutliveACommunicatorThatEndsWithinThem) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    tuttiComm_t other = nullptr;
    EXPECT_DONE(tuttiCommSplit(comm, 0, rank, &other, nullptr));
    const int mine = rank + 1;
    int sum = 0;
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(tuttiAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, other));
    EXPECT_DONE(tuttiCommDestroy(other));
    EXPECT_EQ(sum, 3);
    EXPECT_DONE(tuttiGroupEnd());
  });
}

TEST(Groups, HoldCollectivesOfSeveralCommunicators) {
  run_ranks(3, [](tuttiComm_t comm, int rank) {
    tuttiComm_t other = nullptr;
    EXPECT_DONE(tuttiCommSplit(comm, 0, -rank, &other, nullptr));
    constexpr int kCount = 40'000;
    std::vector<int> mine(kCount, rank + 1);
    std::array<std::vector<int>, 3> sums;
    for (std::vector<int>& each : sums) each.assign(kCount, 0);
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(tuttiAllReduce(mine.data(), sums[0].data(), kCount, tuttiInt, tuttiSum, comm));
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(tuttiAllReduce(mine.data(), sums[1].data(), kCount, tuttiInt, tuttiSum, other));
    EXPECT_DONE(tuttiGroupEnd());
    EXPECT_DONE(tuttiAllReduce(mine.data(), sums[2].data(), 3, tuttiInt, tuttiSum, comm));
    EXPECT_DONE(tuttiGroupEnd());
    EXPECT_EQ(sums[0], std::vector<int>(kCount, 6));
    EXPECT_EQ(sums[1], std::vector<int>(kCount, 6));
    EXPECT_EQ(sums[2][2], 6);
    EXPECT_EQ(sums[2][3], 0);
    EXPECT_DONE(tuttiCommDestroy(other));
  });
}

}  // namespace
}  // namespace tutti::test
