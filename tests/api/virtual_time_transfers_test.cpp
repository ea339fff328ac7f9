// SPDX-License-Identifier: Apache-2.0
// Sends and receives in virtual time: each takes what its message takes alone on the fabric.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "virtual_time.hpp"

namespace tutti::test {
namespace {

constexpr std::uint64_t kCount = 5000;
const char* const kSwitch = "switch:4";

// All pairs of ranks of a switch are alike.
struct Times {
  double sender = 0;
  double receiver = 0;
};
Times times_of(std::uint64_t count) {
  const simulate::Answer answer = simulated("switch:2", Collective::broadcast, "knomial(2)", count, 0, true);
  EXPECT_GT(answer.rank_times.at(1), 0);
  return {answer.rank_times.at(0), answer.rank_times.at(1)};
}

TEST(VirtualTransfers, AMessageTakesWhatItTakesAlone) {
  const Times times = times_of(kCount);
  run_with(2, {on(kSwitch)}, [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
    ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
    Ints data(kCount, rank);
    if (rank == 0) {
      EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 500));
      EXPECT_DONE(tuttiSend(data.data(), kCount, tuttiInt, 1, comm));
      EXPECT_EQ(now(comm), 500 + times.sender);
    } else {
      EXPECT_DONE(tuttiRecv(data.data(), kCount, tuttiInt, 0, comm));
      EXPECT_EQ(data, Ints(kCount, 0));
      EXPECT_EQ(now(comm), 500 + times.receiver);
    }
    EXPECT_EQ(last(comm), 0) << "which is of collectives";
    // A late receiver does not hold its sender up.
    const double before = now(comm);
    if (rank == 0) {
      EXPECT_DONE(tuttiSend(data.data(), kCount, tuttiInt, 1, comm));
      EXPECT_EQ(now(comm), before + times.sender);
    } else {
      EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 1e6));
      EXPECT_DONE(tuttiRecv(data.data(), kCount, tuttiInt, 0, comm));
      EXPECT_EQ(now(comm), before + 1e6 + times.receiver);
    }
  });
}

// Everybody is as late as the latest of those that it hears of.
TEST(VirtualTransfers, ARingOfRanksKeepsTime) {
  const Times times = times_of(kCount);
  constexpr int kRanksHere = 4;
  run_with(kRanksHere, {on(kSwitch)}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    const Ints mine(kCount, rank);
    Ints got(kCount);
    if (rank == 2) {
      EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 3000));
    }
    std::array<double, kRanksHere> clocks = {0, 0, 3000, 0};
    for (int round = 0; round < 3; ++round) {
      EXPECT_DONE(tuttiSendRecv(mine.data(), kCount, (rank + 1) % kRanksHere, got.data(), kCount,
                                (rank + kRanksHere - 1) % kRanksHere, tuttiInt, comm));
      std::array<double, kRanksHere> next{};
      for (std::size_t each = 0; each < kRanksHere; ++each) {
        const double heard = std::max(clocks[each], clocks[(each + kRanksHere - 1) % kRanksHere]);
        next[each] = std::max(clocks[each] + times.sender, heard + times.receiver);
      }
      clocks = next;
      EXPECT_EQ(now(comm), clocks[static_cast<std::size_t>(rank)]) << round;
    }
    EXPECT_EQ(got, Ints(kCount, (rank + kRanksHere - 1) % kRanksHere));
    // A collective begins when the latest is there.
    EXPECT_DONE(tuttiBarrier(comm));
    EXPECT_GT(now(comm), *std::max_element(clocks.begin(), clocks.end()));
  });
}

TEST(VirtualTransfers, WhatIsComputedMeanwhileCostsNothing) {
  const Times times = times_of(kCount);
  run_with(2, {on(kSwitch)}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    Ints data(kCount, rank);
    std::array<tuttiRequest_t, 2> requests{};
    Ints other(kCount, rank);
    // Persistent, twice: a message each way.
    EXPECT_DONE(tuttiSendInit(data.data(), kCount, tuttiInt, 1 - rank, comm, &requests[0]));
    EXPECT_DONE(tuttiRecvInit(other.data(), kCount, tuttiInt, 1 - rank, comm, &requests[1]));
    const double each = std::max(times.sender, times.receiver);
    for (int round = 0; round < 2; ++round) {
      const double before = now(comm);
      for (tuttiRequest_t request : requests) EXPECT_DONE(tuttiStart(request));
      EXPECT_EQ(now(comm), before);
      EXPECT_DONE(tuttiAdvanceVirtualTime(comm, each / 2));
      EXPECT_DONE(tuttiWaitAll(2, requests.data()));
      EXPECT_DOUBLE_EQ(now(comm), before + each);
    }
    for (tuttiRequest_t& request : requests) EXPECT_DONE(tuttiRequestFree(&request));
    // Longer than the message: only what is computed counts.
    const double before = now(comm);
    tuttiRequest_t request = nullptr;
    if (rank == 0)
      EXPECT_DONE(tuttiISend(data.data(), kCount, tuttiInt, 1, comm, &request));
    else
      EXPECT_DONE(tuttiIRecv(data.data(), kCount, tuttiInt, 0, comm, &request));
    EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 1e9));
    int done = 0;
    while (done == 0) EXPECT_DONE(tuttiTest(&request, &done));
    EXPECT_EQ(now(comm), before + 1e9);
  });
}

TEST(VirtualTransfers, GroupsEndWithTheirLatest) {
  const Times small = times_of(1);
  const Times large = times_of(kCount);
  run_with(3, {on(kSwitch)}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    Ints data(kCount, rank);
    Ints more(kCount);
    int one = rank;
    int self = -1;
    EXPECT_DONE(tuttiGroupStart());
    if (rank == 0) {
      EXPECT_DONE(tuttiSend(data.data(), kCount, tuttiInt, 1, comm));
      EXPECT_DONE(tuttiSend(&one, 1, tuttiInt, 2, comm));
    } else {
      EXPECT_DONE(rank == 1 ? tuttiRecv(more.data(), kCount, tuttiInt, 0, comm)
                            : tuttiRecv(&one, 1, tuttiInt, 0, comm));
    }
    // To itself: no time.
    EXPECT_DONE(tuttiSendRecv(&rank, 1, rank, &self, 1, rank, tuttiInt, comm));
    EXPECT_EQ(now(comm), 0);
    EXPECT_DONE(tuttiGroupEnd());
    EXPECT_EQ(self, rank);
    EXPECT_EQ(now(comm), rank == 0   ? std::max(small.sender, large.sender)
                         : rank == 1 ? large.receiver
                                     : small.receiver);
    // Beside a collective.
    int sum = rank;
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(tuttiAllReduce(&sum, &sum, 1, tuttiInt, tuttiSum, comm));
    EXPECT_DONE(
        tuttiSendRecv(data.data(), kCount, (rank + 1) % 3, more.data(), kCount, (rank + 2) % 3, tuttiInt, comm));
    EXPECT_DONE(tuttiGroupEnd());
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(more, Ints(kCount, (rank + 2) % 3));
    EXPECT_GT(last(comm), 0);
  });
}

// Ranks of a part are where they are on the whole fabric.
TEST(VirtualTransfers, PartsKeepTheirPlaces) {
  const char* const ring = "ring_1d:6";
  std::array<double, 2> times{};
  run_with(6, {on(ring)}, [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
    ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
    for (const int far : {1, 3}) {
      tuttiComm_t part = nullptr;
      EXPECT_DONE(tuttiCommSplit(comm, rank == 0 || rank == far ? 0 : 1, rank, &part, nullptr));
      if (rank == 0 || rank == far) {
        const double before = now(part);
        Ints data(kCount, rank);
        if (rank == 0)
          EXPECT_DONE(tuttiSend(data.data(), kCount, tuttiInt, 1, part));
        else
          EXPECT_DONE(tuttiRecv(data.data(), kCount, tuttiInt, 0, part));
        if (rank == far) times[far == 1 ? 0 : 1] = now(part) - before;
      }
      EXPECT_DONE(tuttiCommDestroy(part));
    }
  });
  EXPECT_GT(times[0], 0);
  EXPECT_GT(times[1], times[0]);
}

// As in real time.
TEST(VirtualTransfers, ARankThatAbortsLeavesNobodyWaiting) {
  run_with(2, {on(kSwitch)}, [](tuttiComm_t comm, int rank, tuttiResult_t) {
    int value = rank;
    if (rank == 1)
      EXPECT_DONE(tuttiCommAbort(comm));
    else
      EXPECT_EQ(tuttiRecv(&value, 1, tuttiInt, 1, comm), tuttiRemoteError) << tuttiGetLastError(comm);
  });
}

}  // namespace
}  // namespace tutti::test
