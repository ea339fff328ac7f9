// SPDX-License-Identifier: Apache-2.0
// Ranks that share a core with a foreign process which never sleeps.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "../ranks.hpp"
#include <tutti/tutti.h>

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;
using test::Children;
using test::start_server;

constexpr int kNumRanks = 3;

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  return cores;
}

void bind_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  sched_setaffinity(0, sizeof set, &set);
}

// Sums until every rank that shares the busy core has left it, or the time is up.
std::string sum_until_left(tuttiComm_t comm, int rank, std::chrono::milliseconds limit) {
  const Clock::time_point until = Clock::now() + limit;
  std::array<int, 2> all{};
  while (all[0] == 0 && all[1] == 0) {
    const int has_left = rank == 2 || allowed_cores().size() > 1 ? 1 : 0;
    const std::array<int, 2> mine = {has_left, Clock::now() > until ? 1 : 0};
    if (tuttiAllReduce(&mine[0], &all[0], 1, tuttiInt32, tuttiMin, comm) != tuttiSuccess ||
        tuttiAllReduce(&mine[1], &all[1], 1, tuttiInt32, tuttiMax, comm) != tuttiSuccess)
      return tuttiGetLastError(comm);
  }
  return fmt::format("{} cores", allowed_cores().size());
}

std::vector<std::string> said_beside_a_busy_process(const char* leaves, std::chrono::milliseconds limit) {
  const std::vector<int> cores = allowed_cores();
  // The last child is no rank.
  Children children(kNumRanks + 1, [&](int rank, const UniqueId& id, const Children::Report& report) {
    bind_to(cores[rank == 2 ? 1 : 0]);
    if (rank == kNumRanks) {
      report("busy");
      while (true) std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    setenv("TUTTI_LEAVE_BUSY_CORES", leaves, 1);
    tuttiUniqueId raw{};
    std::memcpy(raw.internal, id.to_bytes().data(), sizeof raw.internal);
    tuttiComm_t comm = nullptr;
    if (tuttiCommInitRank(&comm, kNumRanks, raw, rank) != tuttiSuccess) return report(tuttiGetLastError(nullptr));
    report(sum_until_left(comm, rank, limit));
    tuttiCommDestroy(comm);
  });
  const auto server = start_server();
  children.release(server->id());
  EXPECT_EQ(children.line(kNumRanks), "busy");
  std::vector<std::string> said;
  for (int rank = 0; rank < kNumRanks; ++rank) said.push_back(children.line(rank));
  return said;
}

TEST(BusyCore, IsLeftByRanksBoundToIt) {
  if (allowed_cores().size() < 2) GTEST_SKIP() << "there is one core only";
  const std::vector<std::string> said = said_beside_a_busy_process("1", std::chrono::seconds(60));
  EXPECT_EQ(said, (std::vector<std::string>{"2 cores", "2 cores", "1 cores"}));
}

TEST(BusyCore, IsKeptWhereTheVariableSaysSo) {
  if (allowed_cores().size() < 2) GTEST_SKIP() << "there is one core only";
  const std::vector<std::string> said = said_beside_a_busy_process("0", std::chrono::seconds(1));
  EXPECT_EQ(said, (std::vector<std::string>{"1 cores", "1 cores", "1 cores"}));
}

}  // namespace
}  // namespace tutti
