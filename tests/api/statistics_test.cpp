// SPDX-License-Identifier: Apache-2.0
// What a communicator says that it has done.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "ranks.hpp"

namespace tutti::test {
namespace {

// Calls and bytes, by "operation algorithm reach".
using Rows = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;

Rows rows_of(tuttiComm_t comm) {
  const tuttiStatistic_t* rows = nullptr;
  int count = 0;
  EXPECT_DONE(tuttiCommGetStatistics(comm, &rows, &count));
  Rows all;
  for (int row = 0; row < count; ++row)
    all[std::string(rows[row].operation) + ' ' + rows[row].algorithm + ' ' + rows[row].reach] = {rows[row].calls,
                                                                                                 rows[row].bytes};
  EXPECT_EQ(all.size(), static_cast<std::size_t>(count));
  return all;
}

tuttiComm_t split(tuttiComm_t comm, std::vector<const char*> variables) {
  variables.push_back(nullptr);
  tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
  config.variables = variables.data();
  tuttiComm_t part = nullptr;
  EXPECT_DONE(tuttiCommSplit(comm, 0, 0, &part, &config));
  return part;
}

TEST(Statistics, CountNothingThatNobodyAskedFor) {
  run_ranks(2, [](tuttiComm_t comm, int) {
    EXPECT_EQ(rows_of(comm), Rows());
    void* memory = nullptr;
    EXPECT_DONE(tuttiMemAlloc(&memory, 64, comm));
    EXPECT_DONE(tuttiMemFree(memory, comm));
    EXPECT_EQ(rows_of(comm), Rows());
  });
}

TEST(Statistics, TellSmallCallsFromOthers) {
  run_ranks(3, [](tuttiComm_t comm, int) {
    std::vector<float> values(1 << 16);
    for (int turn = 0; turn < 7; ++turn)
      EXPECT_DONE(tuttiAllReduce(values.data(), values.data(), 4, tuttiFloat, tuttiSum, comm));
    tuttiComm_t ring = split(comm, {"TUTTI_ALLREDUCE_ALGORITHM=ring"});
    for (int turn = 0; turn < 2; ++turn)
      EXPECT_DONE(tuttiAllReduce(values.data(), values.data(), values.size(), tuttiFloat, tuttiSum, ring));
    EXPECT_EQ(rows_of(ring), (Rows{{"all_reduce ring staged", {2, 2 * sizeof(float) * values.size()}}}));
    Rows whole = rows_of(comm);
    EXPECT_EQ(whole.at("all_reduce one_shot small"), std::pair(std::uint64_t{7}, TUTTI_BYTES_NOT_COUNTED));
    std::erase_if(whole, [](const auto& row) { return row.first.starts_with("all_gather "); });  // of the split
    EXPECT_EQ(whole.size(), 1U);
    EXPECT_DONE(tuttiCommDestroy(ring));
  });
}

TEST(Statistics, CountCallsThatAreWaitedForOnce) {
  run_ranks(2, [](tuttiComm_t comm, int) {
    int mine = 1;
    int sum = 0;
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiAllReduceInit(&mine, &sum, 1, tuttiInt, tuttiSum, comm, &request));
    for (int turn = 0; turn < 5; ++turn) {
      EXPECT_DONE(tuttiStart(request));
      // While something is pending this one joins it.
      EXPECT_DONE(tuttiAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, comm));
      EXPECT_DONE(tuttiWait(&request));
    }
    EXPECT_DONE(tuttiRequestFree(&request));
    const auto [calls, bytes] = rows_of(comm).at("all_reduce one_shot staged");
    EXPECT_GE(calls, 5U);
    EXPECT_EQ(bytes, calls * sizeof(int));
    const Rows rows = rows_of(comm);
    const auto small = rows.find("all_reduce one_shot small");
    EXPECT_EQ(calls + (small == rows.end() ? 0 : small->second.first), 10U);
  });
}

TEST(Statistics, SayWhereDataLay) {
  run_ranks(2, [](tuttiComm_t comm, int) {
    constexpr std::size_t kBytes = 1 << 16;
    void* memory = nullptr;
    EXPECT_DONE(tuttiMemAlloc(&memory, kBytes, comm));
    EXPECT_DONE(tuttiAllReduce(memory, memory, kBytes, tuttiUint8, tuttiMax, comm));
    EXPECT_DONE(tuttiMemFree(memory, comm));
    const Rows rows = rows_of(comm);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows.begin()->first.ends_with(" symmetric")) << rows.begin()->first;
    EXPECT_EQ(rows.begin()->second, std::pair(std::uint64_t{1}, std::uint64_t{kBytes}));
  });
}

TEST(Statistics, CountTransfersByHowTheyGo) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    tuttiComm_t part = split(comm, {"TUTTI_ATTACH_MIN=1K"});
    std::vector<char> data(4096);
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{8}, data.size()})
      EXPECT_DONE(rank == 0 ? tuttiSend(data.data(), bytes, tuttiChar, 1, part)
                            : tuttiRecv(data.data(), bytes, tuttiChar, 0, part));
    const std::string direction = rank == 0 ? "send" : "receive";
    const Rows rows = rows_of(part);
    // Where the system lets no process read another.
    const bool has_attached = rows.contains(direction + "  attached");
    EXPECT_EQ(rows, has_attached ? (Rows{{direction + "  staged", {2, 16}}, {direction + "  attached", {1, 4096}}})
                                 : (Rows{{direction + "  staged", {3, 16 + 4096}}}));
    EXPECT_DONE(tuttiCommDestroy(part));
  });
}

TEST(Statistics, AreATableOfTheLog) {
  const std::string path = testing::TempDir() + "tutti_statistics_" + std::to_string(getpid()) + ".log";
  const std::string file = "TUTTI_DEBUG_FILE=" + path;
  run_ranks(2, [&](tuttiComm_t comm, int) {
    tuttiComm_t part = split(comm, {"TUTTI_DEBUG=info", file.c_str()});
    int mine = 1;
    int sum = 0;
    EXPECT_DONE(tuttiAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, part));
    EXPECT_DONE(tuttiBroadcast(&mine, &sum, 1, tuttiInt, 0, part));
    EXPECT_DONE(tuttiCommDestroy(part));
  });
  std::ifstream lines(path);
  std::vector<std::string> table;
  for (std::string line; std::getline(lines, line);)
    if (const auto front = line.find("[0] INFO coll: "); front != std::string::npos)
      table.push_back(line.substr(front + std::string("[0] INFO coll: ").size()));
  std::filesystem::remove(path);
  ASSERT_GE(table.size(), 4U);
  EXPECT_EQ(table[table.size() - 4], "what ran:");
  EXPECT_EQ(table[table.size() - 3].find("operation   algorithm"), 0U);
  EXPECT_EQ(table[table.size() - 2].find("all_reduce  one_shot "), 0U) << table[table.size() - 2];
  EXPECT_EQ(table.back().find("broadcast   "), 0U) << table.back();
}

TEST(Statistics, SayWhatIsMissing) {
  run_ranks(1, [](tuttiComm_t comm, int) {
    const tuttiStatistic_t* rows = nullptr;
    int count = 0;
    EXPECT_EQ(words_of(tuttiCommGetStatistics(nullptr, &rows, &count), tuttiInvalidArgument), "comm is null");
    EXPECT_EQ(words_of(tuttiCommGetStatistics(comm, nullptr, &count), tuttiInvalidArgument), "statistics is null");
    EXPECT_EQ(words_of(tuttiCommGetStatistics(comm, &rows, nullptr), tuttiInvalidArgument), "count is null");
  });
}

}  // namespace
}  // namespace tutti::test
