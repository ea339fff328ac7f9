// SPDX-License-Identifier: Apache-2.0
// What becomes of operations that are pending: when the communicator breaks, when another thread goes on with it or
// destroys it, when they are only polled, and while something else is waited for. What two ranks tell each other beside
// the library, in flags, is what orders them.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "ranks.hpp"

namespace tutti::test {
namespace {

// Set by one rank, waited for by another, without a call of the library.
class Flag {
 public:
  void set() {
    is_set_ = true;
    is_set_.notify_all();
  }
  void wait() const { is_set_.wait(false); }

 private:
  std::atomic<bool> is_set_ = false;
};

tuttiComm_t split_off(tuttiComm_t comm, int rank) {
  tuttiComm_t other = nullptr;
  EXPECT_DONE(tuttiCommSplit(comm, 0, rank, &other, nullptr));
  return other;
}

int sum_of_ranks(tuttiComm_t comm, int rank) {
  int sum = -1;
  EXPECT_DONE(tuttiAllReduce(&rank, &sum, 1, tuttiInt, tuttiSum, comm));
  return sum;
}

// Until it is done, or wrong.
tuttiResult_t poll(tuttiRequest_t& request) {
  tuttiResult_t result = tuttiSuccess;
  for (int done = 0; done == 0 && result == tuttiSuccess;) result = tuttiTest(&request, &done);
  return result;
}

TEST(Pending, BuffersAreTheCallersAgainAfterAnError) {
  for (const bool is_waited_for : {true, false}) {
    Flag has_begun;
    Flag is_sent;
    Flag is_looked_at;
    run_ranks(2, [&](tuttiComm_t comm, int rank) {
      tuttiComm_t other = split_off(comm, rank);
      int heard = -1;
      if (rank == 0) {
        tuttiRequest_t request = nullptr;
        EXPECT_DONE(tuttiIRecv(&heard, 1, tuttiInt, 1, other, &request));
        has_begun.set();
        is_sent.wait();
        EXPECT_DONE(tuttiCommAbort(other));
        if (is_waited_for) {
          EXPECT_EQ(tuttiWait(&request), tuttiRemoteError);
        }
        // What goes on with everything that is pending, and ends nothing.
        int later = -1;
        int done = 1;
        tuttiRequest_t another = nullptr;
        EXPECT_DONE(tuttiIRecv(&later, 1, tuttiInt, 1, comm, &another));
        EXPECT_DONE(tuttiTest(&another, &done));
        EXPECT_EQ(done, 0);
        EXPECT_EQ(heard, -1);
        is_looked_at.set();
        EXPECT_DONE(tuttiWait(&another));
        EXPECT_EQ(later, 1);
      } else {
        has_begun.wait();
        EXPECT_DONE(tuttiSend(&rank, 1, tuttiInt, 0, other));
        is_sent.set();
        is_looked_at.wait();
        EXPECT_DONE(tuttiSend(&rank, 1, tuttiInt, 0, comm));
      }
      tuttiCommDestroy(other);
    });
  }
}

TEST(Pending, MayBeDestroyedByAnotherThread) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    tuttiComm_t other = split_off(comm, rank);
    int heard = -1;
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiIRecv(&heard, 1, tuttiInt, 1 - rank, other, &request));
    EXPECT_EQ(sum_of_ranks(comm, rank), 1);  // both have begun
    std::thread([&] {
      EXPECT_DONE(tuttiCommAbort(other));
      EXPECT_EQ(tuttiCommDestroy(other), tuttiRemoteError);
    }).join();
    EXPECT_EQ(sum_of_ranks(comm, rank), 1);
  });
}

// Its thread goes on with it in a wait for something else.
TEST(Pending, MayBeDestroyedByAnotherThreadDuringAWait) {
  Flag is_destroyed;
  run_ranks(2, [&](tuttiComm_t comm, int rank) {
    tuttiComm_t other = split_off(comm, rank);
    if (rank == 0) {
      int heard = -1;
      tuttiRequest_t request = nullptr;
      EXPECT_DONE(tuttiIRecv(&heard, 1, tuttiInt, 1, other, &request));
      std::thread watchdog([&] {
        EXPECT_DONE(tuttiCommAbort(other));
        EXPECT_EQ(tuttiCommDestroy(other), tuttiRemoteError);
        is_destroyed.set();
      });
      EXPECT_DONE(tuttiRecv(&heard, 1, tuttiInt, 1, comm));
      EXPECT_EQ(heard, 1);
      watchdog.join();
    } else {
      is_destroyed.wait();
      EXPECT_DONE(tuttiSend(&rank, 1, tuttiInt, 0, comm));
      tuttiCommDestroy(other);
    }
  });
}

// Waited for, polled, settled, or joined by a blocking call: whoever calls goes on.
TEST(Pending, GoesOnInTheThreadThatCalls) {
  constexpr int kCount = 1 << 17;  // more than slots hold
  for (const int way : {0, 1, 2, 3})
    run_ranks(2, [way](tuttiComm_t comm, int rank) {
      tuttiComm_t other = split_off(comm, rank);
      std::vector<int> mine(kCount, rank + 1);
      std::vector<int> sums(kCount);
      tuttiRequest_t request = nullptr;
      std::thread([&] {
        EXPECT_DONE(tuttiIAllReduce(mine.data(), sums.data(), kCount, tuttiInt, tuttiSum, other, &request));
      }).join();
      if (way == 0) {
        EXPECT_DONE(tuttiWait(&request));
      }
      if (way == 1) {
        EXPECT_DONE(poll(request));
      }
      if (way == 2) {
        EXPECT_DONE(tuttiCommDestroy(other));
      }
      if (way == 3) {
        EXPECT_EQ(sum_of_ranks(other, rank), 1);
        EXPECT_DONE(tuttiWait(&request));
      }
      EXPECT_EQ(sums, std::vector<int>(kCount, 3));
      for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(sum_of_ranks(comm, rank), 1);
      if (way != 2) {
        EXPECT_DONE(tuttiCommDestroy(other));
      }
    });
}

// An operator that tells where it ran.
void add_and_tell(void* accumulator, const void* next, size_t count, void* context) {
  *static_cast<std::thread::id*>(context) = std::this_thread::get_id();
  for (size_t i = 0; i < count; ++i) static_cast<int*>(accumulator)[i] += static_cast<const int*>(next)[i];
}

// Also by a call that only reads, for what it reads must not move: the thread that has begun leaves it alone.
TEST(Pending, IsTakenOverByAnyCall) {
  Flag is_taken_over;
  Flag is_gone_on_without;
  run_ranks(2, [&](tuttiComm_t comm, int rank) {
    tuttiComm_t other = split_off(comm, rank);
    std::thread::id where;
    tuttiRedOp_t op = tuttiSum;
    EXPECT_DONE(tuttiRedOpCreate(&op, add_and_tell, &where, 1, tuttiInt, other));
    int sum = -1;
    tuttiRequest_t request = nullptr;
    if (rank == 0) {
      EXPECT_DONE(tuttiIAllReduce(&rank, &sum, 1, tuttiInt, op, other, &request));
      std::thread second([&] {
        const tuttiStatistic_t* statistics = nullptr;
        int count = 0;
        EXPECT_DONE(tuttiCommGetStatistics(other, &statistics, &count));
        is_taken_over.set();
        is_gone_on_without.wait();
        EXPECT_DONE(tuttiWait(&request));
        EXPECT_EQ(where, std::this_thread::get_id());
      });
      for (int turn = 0; turn < 3; ++turn) EXPECT_DONE(tuttiBarrier(comm));
      is_gone_on_without.set();
      second.join();
    } else {
      is_taken_over.wait();
      EXPECT_DONE(tuttiIAllReduce(&rank, &sum, 1, tuttiInt, op, other, &request));
      for (int turn = 0; turn < 3; ++turn) EXPECT_DONE(tuttiBarrier(comm));
      EXPECT_DONE(tuttiWait(&request));
    }
    EXPECT_EQ(sum, 1);
    EXPECT_DONE(tuttiCommDestroy(other));
  });
}

TEST(Pending, PolledAloneHearsThatARankHasLeft) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    if (rank == 1) return;  // and so leaves
    int heard = 0;
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiIRecv(&heard, 1, tuttiInt, 1, comm, &request));
    EXPECT_PREFIX(words_of(poll(request), tuttiInvalidUsage),
                  "rank 1 has left the communicator and will not come to a receive of 1 i32 element from rank 1");
    EXPECT_EQ(request, nullptr);
  });
}

TEST(Pending, PolledAloneHearsThatCallsDiffer) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    int mine = 0;
    int other = 0;
    tuttiRequest_t request = nullptr;
    if (rank == 0) {
      EXPECT_DONE(tuttiIBcast(&mine, 1, tuttiInt, 1, comm, &request));
    } else {
      EXPECT_DONE(tuttiIReduce(&mine, &other, 1, tuttiInt, tuttiSum, 1, comm, &request));
    }
    EXPECT_PREFIX(words_of(poll(request), tuttiInvalidUsage), "the ranks' calls differ: ");
  });
}

// Rank 1 comes to the making of a communicator once it has what rank 0 has begun.
TEST(Pending, GoesOnWhileACommunicatorIsMade) {
  constexpr int kCount = 1 << 20;
  tuttiUniqueId id{};
  ASSERT_EQ(tuttiGetUniqueId(&id), tuttiSuccess);
  run_ranks(2, [&](tuttiComm_t comm, int rank) {
    std::vector<int> mine(kCount, rank + 1);
    std::vector<int> sums(kCount);
    tuttiRequest_t request = nullptr;
    if (rank == 0) {
      EXPECT_DONE(tuttiIAllReduce(mine.data(), sums.data(), kCount, tuttiInt, tuttiSum, comm, &request));
    } else {
      EXPECT_DONE(tuttiAllReduce(mine.data(), sums.data(), kCount, tuttiInt, tuttiSum, comm));
    }
    tuttiComm_t made = nullptr;
    EXPECT_DONE(tuttiCommInitRank(&made, 2, id, rank));
    EXPECT_DONE(tuttiWait(&request));
    EXPECT_EQ(sums, std::vector<int>(kCount, 3));
    EXPECT_DONE(tuttiCommDestroy(made));
  });
}

// Who waits for several communicators sleeps: seldom more often than once a millisecond.
TEST(Pending, OnSeveralCommunicatorsSleepsLong) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    tuttiComm_t other = split_off(comm, rank);
    // Some sleeps are needed to tell.
    if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    rusage before{};
    rusage after{};
    const auto start = std::chrono::steady_clock::now();
    tuttiRequest_t requests[2] = {};
    EXPECT_DONE(tuttiIBarrier(comm, &requests[0]));
    EXPECT_DONE(tuttiIBarrier(other, &requests[1]));
    getrusage(RUSAGE_THREAD, &before);
    EXPECT_DONE(tuttiWaitAll(2, requests));
    getrusage(RUSAGE_THREAD, &after);
    const auto waited = std::chrono::steady_clock::now() - start;
    if (rank == 1) {
      EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 20 + 2 * (waited / std::chrono::milliseconds(1)));
    }
    EXPECT_DONE(tuttiCommDestroy(other));
  });
}

}  // namespace
}  // namespace tutti::test
