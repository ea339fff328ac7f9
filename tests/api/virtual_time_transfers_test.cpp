// SPDX-License-Identifier: Apache-2.0
// Sends and receives in virtual time: each takes what its message takes alone on the fabric.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <string>
#include <thread>
#include <vector>

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

// By hand: a link to the switch and one from it, of 1 us and 1 ns for each byte.
TEST(VirtualTransfers, AMessageTakesLatencyAndItsBytes) {
  run_with(2, {on("switch:2,bandwidth=1GB/s,latency=1us")}, [](tuttiComm_t comm, int rank, tuttiResult_t made) {
    ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
    Ints data(kCount, rank);
    // A message is sent also where there is nothing to send.
    for (const std::uint64_t count : {kCount, std::uint64_t{2}, std::uint64_t{0}}) {
      EXPECT_DONE(tuttiBarrier(comm));
      const double before = now(comm);
      if (rank == 0) {
        EXPECT_DONE(tuttiSend(data.data(), count, tuttiInt, 1, comm));
      } else {
        EXPECT_DONE(tuttiRecv(data.data(), count, tuttiInt, 0, comm));
        EXPECT_NEAR(now(comm) - before, 2000.0 + std::max(4.0 * static_cast<double>(count), 1.0), 1e-6) << count;
      }
    }
  });
}

// As many as there are slots, or more, and then the sender waits for the receiver outside of the library.
TEST(VirtualTransfers, WhatWasSentArrivesWhileTheSenderIsElsewhere) {
  const Times times = times_of(1);
  for (int trial = 0; trial < 20; ++trial) {
    const bool is_pending = trial % 2 == 0;
    const char* const depth = trial % 4 < 2 ? "TUTTI_STAGING_DEPTH=16" : "TUTTI_STAGING_DEPTH=2";
    std::latch received(1);
    run_with(2, {on(kSwitch), depth}, [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
      ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
      constexpr int kMessages = 12;
      for (int number = 0; number < kMessages; ++number) {
        int value = rank == 0 ? number : -1;
        tuttiRequest_t request = nullptr;
        if (rank == 0 && is_pending) {
          EXPECT_DONE(tuttiISend(&value, 1, tuttiInt, 1, comm, &request));
          EXPECT_DONE(tuttiWait(&request));
        } else if (rank == 0) {
          EXPECT_DONE(tuttiSend(&value, 1, tuttiInt, 1, comm));
        } else {
          EXPECT_DONE(tuttiRecv(&value, 1, tuttiInt, 0, comm));
          EXPECT_EQ(value, number);
          EXPECT_GE(now(comm), number * times.sender + times.receiver);
        }
      }
      if (rank == 0)
        received.wait();
      else
        received.count_down();
    });
  }
}

// Another thread goes on with what the first has left pending, and with its clocks.
TEST(VirtualTransfers, ThreadsTakeClocksOver) {
  run_with(2, {on(kSwitch)}, [](tuttiComm_t comm, int rank, tuttiResult_t made) {
    ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
    constexpr std::size_t kMessages = 20;
    std::vector<int> values(kMessages, rank);
    int reply = rank;
    if (rank == 1) {
      for (int& value : values) EXPECT_DONE(tuttiRecv(&value, 1, tuttiInt, 0, comm));
      EXPECT_EQ(values, std::vector<int>(kMessages, 0));
      EXPECT_DONE(tuttiSend(&reply, 1, tuttiInt, 0, comm));
      return;
    }
    std::vector<tuttiRequest_t> requests(kMessages);
    std::latch is_begun(1), is_over(1);
    std::jthread first([&] {
      for (std::size_t number = 0; number < kMessages; ++number)
        EXPECT_DONE(tuttiISend(&values[number], 1, tuttiInt, 1, comm, &requests[number]));
      is_begun.count_down();
      is_over.wait();
    });
    is_begun.wait();
    EXPECT_DONE(tuttiWaitAll(kMessages, requests.data()));
    EXPECT_DONE(tuttiRecv(&reply, 1, tuttiInt, 1, comm));
    EXPECT_EQ(reply, 1);
    is_over.count_down();
  });
}

// Each with any of the others, in the order in which they end.
TEST(VirtualTransfers, RequestsAreWaitedForInAnyOrder) {
  const Times times = times_of(kCount);
  run_with(3, {on(kSwitch)}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    std::vector<Ints> got(2, Ints(kCount, -1));
    const Ints mine(kCount, rank);
    std::vector<tuttiRequest_t> requests(4);
    for (const int step : {1, 2}) {
      const int peer = (rank + step) % 3;
      const auto place = static_cast<std::size_t>(step - 1);
      EXPECT_DONE(tuttiIRecv(got[place].data(), kCount, tuttiInt, peer, comm, &requests[2 * place]));
      EXPECT_DONE(tuttiISend(mine.data(), kCount, tuttiInt, peer, comm, &requests[2 * place + 1]));
    }
    int ended = 0;
    for (int index = 0; index >= 0; ++ended) EXPECT_DONE(tuttiWaitAny(4, requests.data(), &index));
    EXPECT_EQ(ended, 5) << "four, and that there is none";
    EXPECT_EQ(got[0], Ints(kCount, (rank + 1) % 3));
    EXPECT_EQ(got[1], Ints(kCount, (rank + 2) % 3));
    EXPECT_EQ(now(comm), std::max(times.sender, times.receiver));
    // To itself.
    tuttiRequest_t own[2] = {};
    EXPECT_DONE(tuttiISend(mine.data(), kCount, tuttiInt, rank, comm, &own[0]));
    EXPECT_DONE(tuttiIRecv(got[0].data(), kCount, tuttiInt, rank, comm, &own[1]));
    int is_done = 0;
    while (is_done == 0) EXPECT_DONE(tuttiTestAll(2, own, &is_done));
    EXPECT_EQ(got[0], mine);
    EXPECT_EQ(now(comm), std::max(times.sender, times.receiver));
  });
}

// Of what was refused nobody is told, so what follows keeps its place.
TEST(VirtualTransfers, WhatIsRefusedTakesNoTime) {
  const Times times = times_of(kCount);
  run_with(2, {on(kSwitch)}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    Ints data(kCount, rank);
    EXPECT_EQ(tuttiSend(data.data(), kCount, tuttiInt, 7, comm), tuttiInvalidArgument);
    EXPECT_EQ(tuttiSend(nullptr, kCount, tuttiInt, 1 - rank, comm), tuttiInvalidArgument);
    EXPECT_EQ(tuttiSendRecv(data.data(), kCount, 1 - rank, nullptr, kCount, 1 - rank, tuttiInt, comm),
              tuttiInvalidArgument);
    EXPECT_EQ(tuttiSend(data.data(), kCount, tuttiInt, rank, comm), tuttiInvalidUsage);
    EXPECT_EQ(now(comm), 0);
    if (rank == 0) {
      EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 500));
      EXPECT_DONE(tuttiSend(data.data(), kCount, tuttiInt, 1, comm));
    } else {
      EXPECT_DONE(tuttiRecv(data.data(), kCount, tuttiInt, 0, comm));
      EXPECT_EQ(data, Ints(kCount, 0));
      EXPECT_EQ(now(comm), 500 + times.receiver);
    }
  });
}

// The counts of a collective differ, so it fails on every rank; the messages beside it have been carried out.
TEST(VirtualTransfers, AGroupWhoseCollectiveFailsHasItsMessagesInTime) {
  const Times times = times_of(kCount);
  run_with(2, {on(kSwitch)}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    for (int round = 0; round < 3; ++round) {
      const double before = now(comm);
      const Ints mine(kCount, rank);
      Ints got(kCount, -1);
      const std::vector<std::size_t> counts = {1, rank == 0 ? std::size_t{2} : std::size_t{3}};
      Ints all(8);
      EXPECT_DONE(tuttiGroupStart());
      EXPECT_DONE(tuttiAllGatherV(mine.data(), counts[static_cast<std::size_t>(rank)], all.data(), counts.data(),
                                  nullptr, tuttiInt, comm));
      EXPECT_DONE(tuttiSendRecv(mine.data(), kCount, 1 - rank, got.data(), kCount, 1 - rank, tuttiInt, comm));
      EXPECT_NE(tuttiGroupEnd(), tuttiSuccess);
      EXPECT_EQ(got, Ints(kCount, 1 - rank));
      EXPECT_DOUBLE_EQ(now(comm), before + std::max(times.sender, times.receiver));
    }
    // What follows does not hear of it.
    int sum = rank;
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(tuttiAllReduce(&sum, &sum, 1, tuttiInt, tuttiSum, comm));
    EXPECT_DONE(tuttiGroupEnd());
    EXPECT_EQ(sum, 1);
  });
}

// Some ranks wait at once for a call that fails, and others later.
TEST(VirtualTransfers, AFailedCallIsToldOfInAllItsForms) {
  run_with(2, {on(kSwitch)}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    const std::vector<std::size_t> counts = {1, rank == 0 ? std::size_t{2} : std::size_t{3}};
    const std::size_t mine = counts[static_cast<std::size_t>(rank)];
    Ints all(8);
    const Ints own(8, rank);
    if (rank == 0) {
      EXPECT_NE(tuttiAllGatherV(own.data(), mine, all.data(), counts.data(), nullptr, tuttiInt, comm), tuttiSuccess);
    } else {
      tuttiRequest_t request = nullptr;
      EXPECT_DONE(tuttiIAllGatherV(own.data(), mine, all.data(), counts.data(), nullptr, tuttiInt, comm, &request));
      EXPECT_NE(tuttiWait(&request), tuttiSuccess);
    }
    int sum = rank;
    EXPECT_DONE(tuttiAllReduce(&sum, &sum, 1, tuttiInt, tuttiSum, comm));
    EXPECT_EQ(sum, 1);
    EXPECT_GT(last(comm), 0);
  });
}

// A root's part is done before the others begin theirs, but they need its clocks.
TEST(VirtualTransfers, WhoLeavesHasToldTheOthers) {
  run_with(2, {on(kSwitch)}, [](tuttiComm_t comm, int rank, tuttiResult_t) {
    constexpr std::size_t kCalls = 3;
    std::vector<int> values(kCalls, rank);
    if (rank == 0) {
      std::vector<tuttiRequest_t> requests(kCalls);
      for (std::size_t number = 0; number < kCalls; ++number)
        EXPECT_DONE(tuttiIBcast(&values[number], 1, tuttiInt, 0, comm, &requests[number]));
      EXPECT_DONE(tuttiCommDestroy(comm));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      for (int& value : values) EXPECT_DONE(tuttiBcast(&value, 1, tuttiInt, 0, comm));
      EXPECT_EQ(values, std::vector<int>(kCalls, 0));
      EXPECT_GT(now(comm), 0);
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
    // Tested, too, it takes its time.
    if (rank == 0)
      EXPECT_DONE(tuttiISend(data.data(), kCount, tuttiInt, 1, comm, &request));
    else
      EXPECT_DONE(tuttiIRecv(data.data(), kCount, tuttiInt, 0, comm, &request));
    for (done = 0; done == 0;) EXPECT_DONE(tuttiTest(&request, &done));
    EXPECT_EQ(now(comm), before + 1e9 + (rank == 0 ? times.sender : times.receiver));
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
