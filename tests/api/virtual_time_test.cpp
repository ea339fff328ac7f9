// SPDX-License-Identifier: Apache-2.0
// Virtual time beside what programs do: pending, persistent and grouped calls, splits, errors, ranks that leave.
#include "virtual_time.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../base/temporary_folder.hpp"
#include "fabric/files/fabric_file.hpp"
#include "on_fabric/way.hpp"

namespace tutti::test {
namespace {

TEST(VirtualTime, CallsInPlaceAreSimulatedInPlace) {
  const simulate::Answer apart = simulated(kTorus, Collective::all_reduce, "ring", 3000);
  const simulate::Answer in_place = simulated(kTorus, Collective::all_reduce, "ring", 3000, 0, true);
  run_with(kRanks, {on(kTorus), "TUTTI_ALLREDUCE_ALGORITHM=ring"}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    Ints mine(3000, 1);
    Ints sum(3000);
    EXPECT_DONE(tuttiAllReduce(mine.data(), mine.data(), 3000, tuttiInt, tuttiSum, comm));
    EXPECT_EQ(last(comm), in_place.time);
    // One that calls otherwise is enough: all are as slow as it.
    EXPECT_DONE(tuttiAllReduce(mine.data(), rank == 2 ? sum.data() : mine.data(), 3000, tuttiInt, tuttiSum, comm));
    EXPECT_EQ(last(comm), apart.time);
  });
}

// What begins late ends late; what is computed meanwhile costs nothing while it is shorter.
TEST(VirtualTime, ComputingGoesOnBesideCallsThatArePending) {
  const simulate::Answer ring = simulated(kTorus, Collective::all_reduce, "ring", 1 << 16, 0, true);
  run_with(kRanks, {on(kTorus), "TUTTI_ALLREDUCE_ALGORITHM=ring"}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    const double own = ring.rank_times[static_cast<std::size_t>(rank)];
    Ints a(1 << 16, 1);
    Ints b(1 << 16, 1);
    tuttiRequest_t first = nullptr;
    tuttiRequest_t second = nullptr;
    // The last one comes at 600 ns.
    EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 100.0 * (rank + 1)));
    EXPECT_DONE(tuttiIAllReduce(a.data(), a.data(), a.size(), tuttiInt, tuttiSum, comm, &first));
    EXPECT_DONE(tuttiIAllReduce(b.data(), b.data(), b.size(), tuttiInt, tuttiSum, comm, &second));
    EXPECT_EQ(now(comm), 100.0 * (rank + 1));
    EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 50));
    // In another order than they were started in.
    EXPECT_DONE(tuttiWait(&second));
    EXPECT_EQ(last(comm), ring.time);
    EXPECT_EQ(now(comm), 600 + ring.time + own);
    const double ended = now(comm);
    EXPECT_DONE(tuttiWait(&first));
    EXPECT_EQ(now(comm), ended);
    // Longer than the call: only what is computed counts.
    EXPECT_DONE(tuttiIAllReduce(a.data(), a.data(), a.size(), tuttiInt, tuttiSum, comm, &first));
    EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 1e9));
    int done = 0;
    while (done == 0) EXPECT_DONE(tuttiTest(&first, &done));
    EXPECT_EQ(now(comm), ended + 1e9);
    EXPECT_EQ(a[0], 6 * 6);
  });
}

TEST(VirtualTime, PersistentAndGroupedCallsCountEachTime) {
  run_with(kRanks, {on(kTorus)}, [&](tuttiComm_t comm, int /*rank*/, tuttiResult_t) {
    std::array<int, 16> mine{};
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiAllReduceInit(mine.data(), mine.data(), mine.size(), tuttiInt, tuttiSum, comm, &request));
    EXPECT_EQ(now(comm), 0);
    EXPECT_DONE(tuttiBarrier(comm));
    double before = now(comm);
    for (int round = 0; round < 3; ++round) {
      EXPECT_DONE(tuttiStart(request));
      EXPECT_DONE(tuttiWait(&request));
      EXPECT_GT(now(comm), before);
      before = now(comm);
    }
    EXPECT_DONE(tuttiRequestFree(&request));
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(tuttiAllReduce(mine.data(), mine.data(), mine.size(), tuttiInt, tuttiSum, comm));
    EXPECT_DONE(tuttiBcast(mine.data(), mine.size(), tuttiInt, 1, comm));
    EXPECT_EQ(now(comm), before);
    EXPECT_DONE(tuttiGroupEnd());
    EXPECT_GT(now(comm), before);
  });
}

// Their ranks stay where they are on the fabric, and have one clock.
TEST(VirtualTime, SplitCommunicatorsKeepPlaceAndClock) {
  std::atomic<int> near = 0;
  std::atomic<int> far = 0;
  run_with(4, {on("ring_1d:8,latency=1us"), "TUTTI_BARRIER_ALGORITHM=dissemination"},
           [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
             ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
             tuttiComm_t halves = nullptr;
             tuttiComm_t ends = nullptr;
             EXPECT_DONE(tuttiCommSplit(comm, rank / 2, rank, &halves, nullptr));
             EXPECT_DONE(tuttiCommSplit(comm, rank % 3 == 0 ? 1 : TUTTI_SPLIT_NOCOLOR, rank, &ends, nullptr));
             EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 5));
             EXPECT_EQ(now(halves), 5);
             EXPECT_DONE(tuttiBarrier(halves));
             near = static_cast<int>(last(halves));
             if (ends != nullptr) {
               EXPECT_DONE(tuttiBarrier(ends));
               far = static_cast<int>(last(ends));
               EXPECT_DONE(tuttiCommDestroy(ends));
             }
             EXPECT_EQ(now(comm), now(halves));
             EXPECT_DONE(tuttiCommDestroy(halves));
           });
  // Ranks 0 and 3 are three hops of 1 us from each other.
  EXPECT_GE(far - near, 1900);
}

TEST(VirtualTime, WhatAFabricCannotDoIsAnErrorThatSaysSo) {
  run_with(kRanks, {on(kTorus), "TUTTI_ALLREDUCE_ALGORITHM=multicast_two_shot"},
           [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
             ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
             int mine = rank;
             int sum = 0;
             const std::string words =
                 words_of(tuttiAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, comm), tuttiUnsupported);
             EXPECT_NE(words.find(kTorus), std::string::npos) << words;
             // It has been carried out, and no clock has moved.
             EXPECT_EQ(sum, kSumOfRanks);
             EXPECT_EQ(now(comm), 0);
             // Whoever waits for it is told, in whatever order.
             tuttiRequest_t refused = nullptr;
             tuttiRequest_t barrier = nullptr;
             EXPECT_DONE(tuttiIAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, comm, &refused));
             EXPECT_DONE(tuttiIBarrier(comm, &barrier));
             EXPECT_DONE(tuttiWait(&barrier));
             EXPECT_GT(now(comm), 0);
             EXPECT_EQ(tuttiWait(&refused), tuttiUnsupported);
           });
  run_with(2, {on(kTorus)}, [&](tuttiComm_t comm, int /*rank*/, tuttiResult_t made) {
    ASSERT_EQ(made, tuttiSuccess);
    EXPECT_EQ(tuttiAdvanceVirtualTime(comm, -1), tuttiInvalidArgument);
    EXPECT_EQ(tuttiGetVirtualTime(comm, nullptr, nullptr), tuttiInvalidArgument);
  });
}

TEST(VirtualTime, NamesThatAreWrongAreRefusedOnAllRanks) {
  const auto refused = [](int ranks, const std::string& variable) {
    std::array<std::string, 8> words;
    run_with(ranks, {variable}, [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
      EXPECT_NE(made, tuttiSuccess);
      EXPECT_EQ(comm, nullptr);
      words[static_cast<std::size_t>(rank)] = tuttiGetLastError(nullptr);
    });
    return words[0];
  };
  EXPECT_EQ(refused(2, "TUTTI_FABRIC=torus_2d:2x3"),
            "TUTTI_FABRIC is 'torus_2d:2x3'; it takes simulate:FABRIC, as in "
            "simulate:torus_2d:2x3 or simulate:./my.toml");
  EXPECT_NE(refused(2, on("tores_2d:2x3")).find("torus_2d"), std::string::npos);
  EXPECT_NE(refused(8, on(kTorus)).find("has 6 ranks; there is no rank 7"), std::string::npos);
}

TEST(VirtualTime, ValuesThatDifferOnRanksAreNamed) {
  const auto words_with = [](const std::string& second) {
    std::string words;
    run_each_with(
        2, [&](int rank) { return std::vector<std::string>{rank == 0 ? on("switch:2") : second}; },
        [&](tuttiComm_t, int rank, tuttiResult_t made) {
          EXPECT_NE(made, tuttiSuccess);
          if (rank == 0) words = tuttiGetLastError(nullptr);
        });
    return words;
  };
  for (const std::string second : {"TUTTI_FABRIC=", "TUTTI_FABRIC=simulate:switch:3", "TUTTI_FABRIC=simulate:swytch"})
    EXPECT_NE(words_with(second).find("TUTTI_FABRIC"), std::string::npos) << second << ": " << words_with(second);
}

TEST(VirtualTime, FabricsMayBeFiles) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/fabric.toml";
  const Result<fabric::Fabric> two = fabric::load_fabric("switch:2");
  ASSERT_TRUE(two.ok());
  folder.write("fabric.toml", fabric::write_fabric(*two));
  run_with(2, {on(path)}, [](tuttiComm_t comm, int, tuttiResult_t made) {
    ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
    EXPECT_DONE(tuttiBarrier(comm));
    EXPECT_GT(now(comm), 0);
  });
}

// The communicator that clocks travel by breaks with the program's, and the other way round: nobody is left waiting.
TEST(VirtualTime, WhoWaitsForARankThatAbortsOrDiffersIsTold) {
  run_with(2, {on("switch:2")}, [](tuttiComm_t comm, int rank, tuttiResult_t) {
    int value = rank;
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_DONE(tuttiCommAbort(comm));
    } else {
      // A root, whose own part ends at once.
      EXPECT_EQ(tuttiBcast(&value, 1, tuttiInt, 0, comm), tuttiRemoteError) << tuttiGetLastError(comm);
    }
  });
  run_with(2, {on("switch:2")}, [](tuttiComm_t comm, int rank, tuttiResult_t) {
    int value = rank;
    const tuttiResult_t result = rank == 0 ? tuttiBcast(&value, 1, tuttiInt, 0, comm) : tuttiBarrier(comm);
    EXPECT_EQ(result, tuttiInvalidUsage) << tuttiGetLastError(comm);
    tuttiComm_t rest = nullptr;
    EXPECT_DONE(tuttiCommShrink(comm, &rest, nullptr));
    EXPECT_DONE(tuttiBarrier(rest));
    EXPECT_GT(now(rest), 0);
    EXPECT_DONE(tuttiCommDestroy(rest));
  });
}

TEST(VirtualTime, TestsAndWaitsRunOutOfTime) {
  for (const bool tests : {true, false}) {
    std::atomic<bool> is_over = false;
    run_with(2, {on("switch:2"), "TUTTI_TIMEOUT=200ms"}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
      if (rank == 1) return is_over.wait(false);
      int value = 1;
      tuttiRequest_t request = nullptr;
      EXPECT_DONE(tuttiIBcast(&value, 1, tuttiInt, 0, comm, &request));
      tuttiResult_t result = tuttiSuccess;
      for (int done = 0; tests && done == 0 && result == tuttiSuccess;) result = tuttiTest(&request, &done);
      if (!tests) result = tuttiWait(&request);
      EXPECT_EQ(result, tuttiTimeout) << tuttiGetLastError(comm);
      tuttiResult_t broken = tuttiSuccess;
      EXPECT_DONE(tuttiCommGetAsyncError(comm, &broken));
      EXPECT_EQ(broken, tuttiTimeout);
      is_over = true;
      is_over.notify_all();
    });
  }
}

// What roots have told the others gets there before they go.
TEST(VirtualTime, FinalizingLeavesNobodyWaiting) {
  std::atomic<bool> has_heard = false;
  run_with(2, {on("switch:2")}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    std::array<int, 2> values{};
    std::array<tuttiRequest_t, 2> requests{};
    for (std::size_t each = 0; each < 2; ++each)
      EXPECT_DONE(tuttiIBcast(&values[each], 1, tuttiInt, 0, comm, &requests[each]));
    if (rank == 0) {
      EXPECT_DONE(tuttiCommFinalize(comm));
      return has_heard.wait(false);
    }
    int index = -1;
    EXPECT_DONE(tuttiWaitAny(2, requests.data(), &index));
    EXPECT_DONE(tuttiWaitAll(2, requests.data()));
    EXPECT_GT(now(comm), 0);
    has_heard = true;
    has_heard.notify_all();
  });
}

// As in real time, what a part cannot be forced to goes by size.
TEST(VirtualTime, PartsThatAForcedAlgorithmIsNotForGoBySize) {
  run_with(kRanks, {on(kTorus), "TUTTI_ALLREDUCE_ALGORITHM=bucket_2d(2x3)"},
           [](tuttiComm_t comm, int rank, tuttiResult_t made) {
             ASSERT_EQ(made, tuttiSuccess);
             tuttiComm_t row = nullptr;
             EXPECT_DONE(tuttiCommSplit(comm, rank / 2, rank, &row, nullptr));
             int value = 1;
             EXPECT_DONE(tuttiAllReduce(&value, &value, 1, tuttiInt, tuttiSum, row));
             EXPECT_EQ(value, 2);
             EXPECT_GT(now(row), 0);
             EXPECT_DONE(tuttiCommDestroy(row));
           });
}

TEST(VirtualTime, SymmetricMemoryIsSimulatedByName) {
  std::array<double, 2> times{};
  run_with(4, {on("h100_node:4")}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    constexpr std::size_t kCount = 1 << 18;
    void* memory = nullptr;
    EXPECT_DONE(tuttiMemAlloc(&memory, kCount * sizeof(int), comm));
    EXPECT_DONE(tuttiAllReduce(memory, memory, kCount, tuttiInt, tuttiSum, comm));
    if (rank == 0) times[0] = last(comm);
    Ints own(kCount);
    EXPECT_DONE(tuttiAllReduce(own.data(), own.data(), kCount, tuttiInt, tuttiSum, comm));
    if (rank == 0) times[1] = last(comm);
    EXPECT_DONE(tuttiMemFree(memory, comm));
  });
  EXPECT_GT(times[0], 0);
  EXPECT_LT(times[0], times[1]);
}

// A table of a fabric, of two ranges.
std::string fabric_table(const std::string& fingerprint, const std::string& second = "recursive_doubling") {
  return "version = 1\npeer = \"simulate:torus_2d:2x3\"\n[machine]\nfingerprint = \"" + fingerprint +
         "\"\nis = \"a torus\"\n[[section]]\ncollective = \"all_reduce\"\nranks = 6\n[[section.range]]\n"
         "most_bytes = \"4K\"\nalgorithm = \"bucket_2d\"\n[[section.range]]\nalgorithm = \"" +
         second + "\"\n";
}

TEST(VirtualTime, ATableOfTheFabricIsObeyed) {
  const TemporaryFolder folder;
  // A grid that the table does not name is the fabric's.
  const double small = simulated(kTorus, Collective::all_reduce, "bucket_2d", 1000, 0, true).time;
  const double large = simulated(kTorus, Collective::all_reduce, "recursive_doubling", 50000, 0, true).time;
  const auto times_with = [&](const std::string& path) {
    std::array<double, 2> times{};
    run_with(kRanks, {on(kTorus), "TUTTI_TABLE=" + path}, [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
      ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
      Ints data(50000, 1);
      EXPECT_DONE(tuttiAllReduce(data.data(), data.data(), 1000, tuttiInt, tuttiSum, comm));
      if (rank == 0) times[0] = last(comm);
      EXPECT_DONE(tuttiAllReduce(data.data(), data.data(), data.size(), tuttiInt, tuttiSum, comm));
      EXPECT_EQ(data.back(), kRanks);
      if (rank == 0) times[1] = last(comm);
    });
    return times;
  };
  const std::array<double, 2> by_table = {small, large};
  EXPECT_EQ(times_with(folder.write("any.toml", fabric_table("any"))), by_table);
  EXPECT_NE(times_with("none"), by_table);
  // That of another fabric is passed over.
  EXPECT_EQ(times_with(folder.write("other.toml", fabric_table("0123456789abcdef"))), times_with("none"));
  // Of a folder, the file with the fabric's fingerprint.
  const Result<fabric::Fabric> torus = fabric::load_fabric(kTorus);
  const std::string own = on_fabric::fingerprint_of(kTorus, *torus);
  folder.write("tables/" + own + ".toml", fabric_table(own));
  EXPECT_EQ(times_with(folder.file("tables")), by_table);
}

TEST(VirtualTime, WrongTablesOfAFabricAreErrors) {
  const TemporaryFolder folder;
  const auto refused = [](const std::vector<std::string>& variables) {
    std::string words;
    run_with(kRanks, variables, [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
      EXPECT_NE(made, tuttiSuccess);
      EXPECT_EQ(comm, nullptr);
      if (rank == 0) words = tuttiGetLastError(nullptr);
    });
    return words;
  };
  const std::string unknown = folder.write("unknown.toml", fabric_table("any", "no_such"));
  EXPECT_NE(refused({on(kTorus), "TUTTI_TABLE=" + unknown}).find("unknown.toml:13: 'no_such' is no algorithm"),
            std::string::npos)
      << refused({on(kTorus), "TUTTI_TABLE=" + unknown});
  const std::string good = folder.write("good.toml", fabric_table("any"));
  EXPECT_NE(refused({"TUTTI_TABLE=" + good}).find("set TUTTI_FABRIC=simulate:torus_2d:2x3"), std::string::npos);
  // Ranks that have read different tables.
  const std::string other = folder.write("other.toml", fabric_table("any", "ring"));
  run_each_with(
      kRanks,
      [&](int rank) {
        return std::vector<std::string>{on(kTorus), "TUTTI_TABLE=" + (rank == 4 ? other : good)};
      },
      [](tuttiComm_t comm, int /*rank*/, tuttiResult_t made) {
        EXPECT_NE(made, tuttiSuccess);
        EXPECT_EQ(comm, nullptr);
        EXPECT_NE(std::string(tuttiGetLastError(nullptr)).find("TUTTI_TABLE"), std::string::npos)
            << tuttiGetLastError(nullptr);
      });
}

TEST(VirtualTime, RealTimeHasNone) {
  run_ranks(2, [](tuttiComm_t comm, int) {
    double time = 0;
    EXPECT_EQ(words_of(tuttiGetVirtualTime(comm, &time, nullptr), tuttiUnsupported),
              "this communicator's calls take real time: TUTTI_FABRIC is not set");
    EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 1e9));
  });
}

// Two runs give the same times, whatever the machine does meanwhile.
TEST(VirtualTime, IsDeterministic) {
  std::array<double, 2> ends{};
  for (double& end : ends)
    run_with(4, {on("switch:4")}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
      Ints data(20000, rank);
      for (std::size_t count = 1; count <= data.size(); count *= 7) {
        EXPECT_DONE(tuttiAdvanceVirtualTime(comm, 13.0 * rank));
        EXPECT_DONE(tuttiAllReduce(data.data(), data.data(), count, tuttiInt, tuttiMax, comm));
        EXPECT_DONE(tuttiAllReduce(data.data(), data.data(), 0, tuttiInt, tuttiMax, comm));
      }
      if (rank == 3) end = now(comm);
    });
  EXPECT_GT(ends[0], 0);
  EXPECT_EQ(ends[0], ends[1]);
}

}  // namespace
}  // namespace tutti::test
