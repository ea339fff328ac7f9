// SPDX-License-Identifier: Apache-2.0
// Collectives in virtual time, with blocks of different sizes too: data as real as ever, times of their schedules to
// the last bit.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../base/temporary_folder.hpp"
#include "base/unique_id.hpp"
#include "fabric/files/fabric_file.hpp"
#include "on_fabric/known_times.hpp"
#include "on_fabric/named_fabric.hpp"
#include "on_fabric/way.hpp"
#include "virtual_time.hpp"

namespace tutti::test {
namespace {

// One of many calls: how it is forced, how it is made, what it must give, and what it must take.
struct Mixed {
  Collective collective;
  std::string variable;
  std::string algorithm;
  std::uint64_t count = 0;  // of a block
  std::uint32_t root = 0;
  std::function<void(tuttiComm_t, int, std::uint64_t)> call;
};

Ints numbers(std::uint64_t count, int first) {
  Ints made(count);
  std::iota(made.begin(), made.end(), first);
  return made;
}

void all_reduce(tuttiComm_t comm, int rank, std::uint64_t count) {
  const Ints mine = numbers(count, rank);
  Ints sum(count);
  EXPECT_DONE(tuttiAllReduce(mine.data(), sum.data(), count, tuttiInt, tuttiSum, comm));
  for (std::uint64_t each = 0; each < count; ++each)
    ASSERT_EQ(sum[each], kSumOfRanks + kRanks * static_cast<int>(each));
}
void all_gather(tuttiComm_t comm, int rank, std::uint64_t count) {
  const Ints mine(count, rank);
  Ints all(count * kRanks);
  EXPECT_DONE(tuttiAllGather(mine.data(), all.data(), count, tuttiInt, comm));
  for (std::uint64_t each = 0; each < all.size(); ++each) ASSERT_EQ(all[each], static_cast<int>(each / count));
}
void reduce_scatter(tuttiComm_t comm, int rank, std::uint64_t count) {
  const Ints mine(count * kRanks, rank);
  Ints part(count);
  EXPECT_DONE(tuttiReduceScatter(mine.data(), part.data(), count, tuttiInt, tuttiSum, comm));
  EXPECT_EQ(part, Ints(count, kSumOfRanks));
}
void broadcast(tuttiComm_t comm, int rank, std::uint64_t count) {
  const Ints mine(count, 7 + rank);
  Ints heard(count);
  EXPECT_DONE(tuttiBroadcast(mine.data(), heard.data(), count, tuttiInt, 2, comm));
  EXPECT_EQ(heard, Ints(count, 9));
}
void reduce(tuttiComm_t comm, int rank, std::uint64_t count) {
  const Ints mine(count, rank);
  Ints sum(count);
  EXPECT_DONE(tuttiReduce(mine.data(), sum.data(), count, tuttiInt, tuttiSum, 1, comm));
  if (rank == 1) {
    EXPECT_EQ(sum, Ints(count, kSumOfRanks));
  }
}
void all_to_all(tuttiComm_t comm, int rank, std::uint64_t count) {
  Ints mine(count * kRanks);
  for (std::uint64_t each = 0; each < mine.size(); ++each) mine[each] = rank * 100 + static_cast<int>(each / count);
  Ints got(mine.size());
  EXPECT_DONE(tuttiAlltoAll(mine.data(), got.data(), count, tuttiInt, comm));
  for (std::uint64_t each = 0; each < got.size(); ++each)
    ASSERT_EQ(got[each], static_cast<int>(each / count) * 100 + rank);
}
void gather(tuttiComm_t comm, int rank, std::uint64_t count) {
  const Ints mine(count, rank);
  Ints all(count * kRanks);
  EXPECT_DONE(tuttiGather(mine.data(), all.data(), count, tuttiInt, 3, comm));
  for (std::uint64_t each = 0; rank == 3 && each < all.size(); ++each)
    ASSERT_EQ(all[each], static_cast<int>(each / count));
}
void scatter(tuttiComm_t comm, int rank, std::uint64_t count) {
  Ints all(count * kRanks);
  for (std::uint64_t each = 0; each < all.size(); ++each) all[each] = static_cast<int>(each / count);
  Ints part(count);
  EXPECT_DONE(tuttiScatter(all.data(), part.data(), count, tuttiInt, 5, comm));
  EXPECT_EQ(part, Ints(count, rank));
}
void scan(tuttiComm_t comm, int rank, std::uint64_t count) {
  const Ints mine(count, rank);
  Ints sum(count);
  EXPECT_DONE(tuttiScan(mine.data(), sum.data(), count, tuttiInt, tuttiSum, comm));
  EXPECT_EQ(sum, Ints(count, rank * (rank + 1) / 2));
}
void exclusive_scan(tuttiComm_t comm, int rank, std::uint64_t count) {
  const Ints mine(count, rank);
  Ints sum(count, 0);
  EXPECT_DONE(tuttiExScan(mine.data(), sum.data(), count, tuttiInt, tuttiSum, comm));
  EXPECT_EQ(sum, Ints(count, rank * (rank - 1) / 2));
}
void barrier(tuttiComm_t comm, int /*rank*/, std::uint64_t /*count*/) { EXPECT_DONE(tuttiBarrier(comm)); }

// Twelve, of every collective.
std::vector<Mixed> mixed() {
  return {{Collective::all_reduce, "TUTTI_ALLREDUCE_ALGORITHM", "bucket_2d(2x3)", 49152, 0, all_reduce},
          {Collective::barrier, "TUTTI_BARRIER_ALGORITHM", "dissemination", 0, 0, barrier},
          {Collective::broadcast, "TUTTI_BROADCAST_ALGORITHM", "knomial", 1000, 2, broadcast},
          {Collective::all_gather, "TUTTI_ALLGATHER_ALGORITHM", "ring", 4096, 0, all_gather},
          {Collective::reduce_scatter, "TUTTI_REDUCESCATTER_ALGORITHM", "ring", 333, 0, reduce_scatter},
          {Collective::reduce, "TUTTI_REDUCE_ALGORITHM", "knomial", 8192, 1, reduce},
          {Collective::all_to_all, "TUTTI_ALLTOALL_ALGORITHM", "pairwise", 77, 0, all_to_all},
          {Collective::gather, "TUTTI_GATHER_ALGORITHM", "knomial", 10, 3, gather},
          {Collective::scatter, "TUTTI_SCATTER_ALGORITHM", "knomial", 2048, 5, scatter},
          {Collective::scan, "TUTTI_SCAN_ALGORITHM", "linear", 500, 0, scan},
          {Collective::exclusive_scan, "TUTTI_EXSCAN_ALGORITHM", "linear", 64, 0, exclusive_scan},
          {Collective::all_reduce, "TUTTI_ALLREDUCE_ALGORITHM", "bucket_2d(2x3)", 8, 0, all_reduce}};
}

TEST(VirtualTime, TwelveMixedCollectivesTakeWhatTheirSchedulesTake) {
  const std::vector<Mixed> calls = mixed();
  std::vector<std::string> variables = {on(kTorus)};
  std::vector<simulate::Answer> expected;
  for (const Mixed& each : calls) {
    variables.push_back(each.variable + "=" + each.algorithm);
    expected.push_back(simulated(kTorus, each.collective, each.algorithm, each.count, each.root));
  }
  run_with(kRanks, variables, [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
    ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
    EXPECT_EQ(now(comm), 0);
    double begin = 0;
    for (std::size_t each = 0; each < calls.size(); ++each) {
      calls[each].call(comm, rank, calls[each].count);
      EXPECT_EQ(last(comm), expected[each].time) << name_of(calls[each].collective);
      EXPECT_EQ(now(comm), begin + expected[each].rank_times[static_cast<std::size_t>(rank)])
          << name_of(calls[each].collective);
      begin += expected[each].time;
    }
  });
}

// Blocks of different sizes, one of them empty: rank r has kSizes[r] elements, or gives them to all.
constexpr std::array<std::size_t, kRanks> kSizes = {100, 0, 7, 4096, 33, 20000};
constexpr std::size_t kSizesTogether = 100 + 7 + 4096 + 33 + 20000;

struct Varying {
  Collective collective;
  std::string variable;
  std::string algorithm;
  std::vector<std::uint64_t> counts;  // of the size classes
  std::uint32_t root = 0;
  std::function<tuttiResult_t(tuttiComm_t, int)> call;
};

std::vector<std::uint64_t> sizes_of_pairs() {
  std::vector<std::uint64_t> counts;
  for (std::size_t from = 0; from < kRanks; ++from)
    for (std::size_t to = 0; to < kRanks; ++to) counts.push_back(kSizes[(from + 2 * to) % kRanks]);
  return counts;
}

tuttiResult_t all_to_all_v(tuttiComm_t comm, int rank) {
  const std::vector<std::uint64_t> pairs = sizes_of_pairs();
  std::array<std::size_t, kRanks> given{};
  std::array<std::size_t, kRanks> expected{};
  for (std::size_t peer = 0; peer < kRanks; ++peer) {
    given[peer] = pairs[static_cast<std::size_t>(rank) * kRanks + peer];
    expected[peer] = pairs[peer * kRanks + static_cast<std::size_t>(rank)];
  }
  const Ints mine(kRanks * kSizesTogether, rank);
  Ints got(kRanks * kSizesTogether, -1);
  const tuttiResult_t result =
      tuttiAlltoAllV(mine.data(), given.data(), nullptr, got.data(), expected.data(), nullptr, tuttiInt, comm);
  std::size_t at = 0;
  for (std::size_t peer = 0; peer < kRanks; ++peer)
    for (std::size_t each = 0; each < expected[peer]; ++each) EXPECT_EQ(got[at++], static_cast<int>(peer));
  return result;
}

std::vector<Varying> varying() {
  const std::vector<std::uint64_t> counts(kSizes.begin(), kSizes.end());
  const auto own = [](int rank) { return kSizes[static_cast<std::size_t>(rank)]; };
  return {{Collective::all_gather_v, "TUTTI_ALLGATHERV_ALGORITHM", "ring", counts, 0,
           [own](tuttiComm_t comm, int rank) {
             const Ints mine(own(rank), rank);
             Ints all(kSizesTogether);
             const tuttiResult_t result =
                 tuttiAllGatherV(mine.data(), own(rank), all.data(), kSizes.data(), nullptr, tuttiInt, comm);
             EXPECT_EQ(all.front(), 0);
             EXPECT_EQ(all.back(), 5);
             return result;
           }},
          {Collective::reduce_scatter_v, "TUTTI_REDUCESCATTERV_ALGORITHM", "ring", counts, 0,
           [own](tuttiComm_t comm, int rank) {
             const Ints mine(kSizesTogether, rank);
             Ints part(own(rank));
             const tuttiResult_t result =
                 tuttiReduceScatterV(mine.data(), part.data(), kSizes.data(), tuttiInt, tuttiSum, comm);
             EXPECT_EQ(part, Ints(own(rank), kSumOfRanks));
             return result;
           }},
          {Collective::all_to_all_v, "TUTTI_ALLTOALLV_ALGORITHM", "pairwise", sizes_of_pairs(), 0, all_to_all_v},
          {Collective::gather_v, "TUTTI_GATHERV_ALGORITHM", "linear", counts, 3,
           [own](tuttiComm_t comm, int rank) {
             const Ints mine(own(rank), rank);
             Ints all(kSizesTogether);
             return tuttiGatherV(mine.data(), own(rank), all.data(), rank == 3 ? kSizes.data() : nullptr, nullptr,
                                 tuttiInt, 3, comm);
           }},
          {Collective::scatter_v, "TUTTI_SCATTERV_ALGORITHM", "linear", counts, 5, [own](tuttiComm_t comm, int rank) {
             const Ints all(kSizesTogether, 8);
             Ints part(own(rank));
             const tuttiResult_t result = tuttiScatterV(all.data(), rank == 5 ? kSizes.data() : nullptr, nullptr,
                                                        part.data(), own(rank), tuttiInt, 5, comm);
             EXPECT_EQ(part, Ints(own(rank), 8));
             return result;
           }}};
}

TEST(VirtualTime, BlocksOfDifferentSizesTakeWhatTheirSchedulesTake) {
  const std::vector<Varying> calls = varying();
  std::vector<std::string> variables = {on(kTorus)};
  std::vector<simulate::Answer> expected;
  for (const Varying& each : calls) {
    variables.push_back(each.variable + "=" + each.algorithm);
    expected.push_back(simulated(kTorus, each.collective, each.algorithm, 0, each.root, false, each.counts));
  }
  run_with(kRanks, variables, [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
    ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
    double begin = 0;
    for (std::size_t each = 0; each < calls.size(); ++each) {
      EXPECT_DONE(calls[each].call(comm, rank));
      EXPECT_EQ(last(comm), expected[each].time) << name_of(calls[each].collective);
      EXPECT_EQ(now(comm), begin + expected[each].rank_times[static_cast<std::size_t>(rank)])
          << name_of(calls[each].collective);
      begin += expected[each].time;
    }
  });
}

// Persistent, in groups and in place too.
TEST(VirtualTime, BlocksOfDifferentSizesMayBePendingOrInPlace) {
  const std::vector<std::uint64_t> counts(kSizes.begin(), kSizes.end());
  const double apart = simulated(kTorus, Collective::all_gather_v, "ring", 0, 0, false, counts).time;
  const double in_place = simulated(kTorus, Collective::all_gather_v, "ring", 0, 0, true, counts).time;
  run_with(kRanks, {on(kTorus), "TUTTI_ALLGATHERV_ALGORITHM=ring"}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    const std::size_t own = kSizes[static_cast<std::size_t>(rank)];
    const Ints mine(own, rank);
    Ints all(kSizesTogether);
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiAllGatherVInit(mine.data(), own, all.data(), kSizes.data(), nullptr, tuttiInt, comm, &request));
    for (int round = 0; round < 2; ++round) {
      EXPECT_DONE(tuttiStart(request));
      EXPECT_DONE(tuttiWait(&request));
      EXPECT_EQ(last(comm), apart);
    }
    EXPECT_DONE(tuttiRequestFree(&request));
    EXPECT_DONE(tuttiBarrier(comm));
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(tuttiAllGatherV(mine.data(), own, all.data(), kSizes.data(), nullptr, tuttiInt, comm));
    EXPECT_DONE(tuttiGroupEnd());
    EXPECT_EQ(last(comm), apart);
    std::size_t begin = 0;
    for (std::size_t each = 0; each < static_cast<std::size_t>(rank); ++each) begin += kSizes[each];
    EXPECT_DONE(tuttiAllGatherV(all.data() + begin, own, all.data(), kSizes.data(), nullptr, tuttiInt, comm));
    EXPECT_EQ(last(comm), in_place);
    EXPECT_EQ(all.back(), 5);
  });
}

// For an all-to-all, the message size is the mean size of a rank's input, as in the library.
TEST(VirtualTime, RangesOfTablesAreChosenByTheSizeOfTheWhole) {
  const TemporaryFolder folder;
  const std::vector<std::uint64_t> pairs = sizes_of_pairs();
  const std::uint64_t bytes = kSizesTogether * sizeof(std::int32_t);
  const auto time_with = [&](std::uint64_t most_bytes) {
    double time = 0;
    const std::string path = folder.write(
        std::to_string(most_bytes) + ".toml",
        "version = 1\npeer = \"simulate:torus_2d:2x3\"\n[machine]\nfingerprint = \"any\"\n[[section]]\ncollective = "
        "\"all_to_all_v\"\nranks = 6\n[[section.range]]\nmost_bytes = \"" +
            std::to_string(most_bytes) + "\"\nalgorithm = \"pairwise\"\n[[section.range]]\nalgorithm = \"direct\"\n");
    run_with(kRanks, {on(kTorus), "TUTTI_TABLE=" + path}, [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
      ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
      EXPECT_DONE(all_to_all_v(comm, rank));
      if (rank == 0) time = last(comm);
    });
    return time;
  };
  EXPECT_EQ(time_with(bytes), simulated(kTorus, Collective::all_to_all_v, "pairwise", 0, 0, false, pairs).time);
  EXPECT_EQ(time_with(bytes - 1), simulated(kTorus, Collective::all_to_all_v, "direct", 0, 0, false, pairs).time);
}

// Wrong counts are an error of the call, and what follows takes its time.
TEST(VirtualTime, CountsThatDifferMoveNoClock) {
  const std::vector<std::uint64_t> right(kSizes.begin(), kSizes.end());
  const double expected = simulated(kTorus, Collective::reduce_scatter_v, "ring", 0, 0, false, right).time;
  run_with(kRanks, {on(kTorus), "TUTTI_REDUCESCATTERV_ALGORITHM=ring"}, [&](tuttiComm_t comm, int rank, tuttiResult_t) {
    std::array<std::size_t, kRanks> counts = kSizes;
    if (rank == 2) counts[4] += 1;
    const Ints mine(kSizesTogether + 1, 1);
    Ints part(kSizesTogether);
    EXPECT_EQ(tuttiReduceScatterV(mine.data(), part.data(), counts.data(), tuttiInt, tuttiSum, comm),
              tuttiInvalidUsage);
    EXPECT_EQ(now(comm), 0);
    tuttiRequest_t request = nullptr;
    for (const bool is_wrong : {true, false}) {
      counts[4] = kSizes[4] + (is_wrong && rank == 2 ? 1 : 0);
      EXPECT_DONE(tuttiIReduceScatterV(mine.data(), part.data(), counts.data(), tuttiInt, tuttiSum, comm, &request));
      EXPECT_EQ(tuttiWait(&request), is_wrong ? tuttiInvalidUsage : tuttiSuccess);
    }
    EXPECT_EQ(last(comm), expected);
    EXPECT_LE(now(comm), expected);
    // A rank that passes no counts is told so, and the others of it.
    EXPECT_DONE(tuttiIReduceScatterV(mine.data(), part.data(), rank == 1 ? nullptr : counts.data(), tuttiInt, tuttiSum,
                                     comm, &request));
    EXPECT_NE(tuttiWait(&request), tuttiSuccess);
    const double before = now(comm);
    EXPECT_DONE(tuttiBarrier(comm));
    EXPECT_GT(now(comm), before);
    EXPECT_LT(now(comm), 2 * expected);
  });
}

TEST(KnownTimes, ACallIsSimulatedOnceForAllRanksOfAProcess) {
  const Result<UniqueId> id = UniqueId::make({});
  const Result<UniqueId> other = UniqueId::make({});
  ASSERT_TRUE(id.ok() && other.ok());
  const std::shared_ptr<on_fabric::KnownTimes> times = on_fabric::KnownTimes::of(*id);
  EXPECT_EQ(on_fabric::KnownTimes::of(*id), times);
  EXPECT_NE(on_fabric::KnownTimes::of(*other), times);
  std::atomic<int> simulations = 0;
  std::array<std::shared_ptr<const on_fabric::Timed>, 4> found;
  const auto find = [&](std::uint64_t count) {
    return times->find_or_make({.count = count}, [&] {
      ++simulations;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return on_fabric::Timed{.time = static_cast<double>(count)};
    });
  };
  {
    std::vector<std::jthread> ranks;
    for (auto& each : found) ranks.emplace_back([&] { each = find(7); });
  }
  EXPECT_EQ(simulations, 1);
  for (const auto& each : found) EXPECT_EQ(each, found[0]);
  EXPECT_EQ(find(8)->time, 8);
  EXPECT_EQ(simulations, 2);
  // What failed for want of memory is tried anew by the next rank.
  EXPECT_THROW(
      static_cast<void>(times->find_or_make({.count = 9}, []() -> on_fabric::Timed { throw std::bad_alloc(); })),
      std::bad_alloc);
  EXPECT_EQ(find(9)->time, 9);
}

TEST(KnownTimes, AreGoneWithTheLastRank) {
  const Result<UniqueId> id = UniqueId::make({});
  ASSERT_TRUE(id.ok());
  std::weak_ptr<on_fabric::KnownTimes> times;
  {
    const auto first = on_fabric::KnownTimes::of(*id);
    const auto second = on_fabric::KnownTimes::of(*id);
    times = first;
  }
  EXPECT_TRUE(times.expired());
}

std::shared_ptr<const on_fabric::NamedFabric> load(const std::string& words) {
  const auto loaded = on_fabric::NamedFabric::load("simulate:" + words);
  EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
  return loaded.ok() ? *loaded : nullptr;
}

TEST(NamedFabric, RanksOfAProcessShareAFabricAsLongAsOneHasIt) {
  std::weak_ptr<const on_fabric::NamedFabric> fabric;
  {
    const auto first = load(kTorus);
    const auto second = load(kTorus);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first, second);
    EXPECT_EQ(first->digest, on_fabric::digest_of(kTorus, first->fabric));
    fabric = first;
  }
  EXPECT_TRUE(fabric.expired());
}

TEST(NamedFabric, AFileIsReadAgainAndSharedIfItIsTheSame) {
  const TemporaryFolder folder;
  const auto write = [&](std::string_view words) {
    const Result<fabric::Fabric> made = fabric::load_fabric(words);
    EXPECT_TRUE(made.ok());
    return folder.write("my.toml", fabric::write_fabric(*made));
  };
  const std::string path = write("ring_1d:6");
  const auto before = load(path);
  EXPECT_EQ(load(path), before);
  static_cast<void>(write("ring_1d:4"));
  const auto after = load(path);
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->fabric.num_ranks(), 4U);
  EXPECT_EQ(before->fabric.num_ranks(), 6U);
}

}  // namespace
}  // namespace tutti::test
