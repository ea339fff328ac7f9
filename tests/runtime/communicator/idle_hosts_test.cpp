// SPDX-License-Identifier: Apache-2.0
// What communicators over hosts do while nobody calls them: they cost next to nothing, however many a process has, and
// accept connections.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "../ranks.hpp"
#include <tutti/tutti.h>

namespace tutti {
namespace {

constexpr int kIdleCommunicators = 64;
constexpr std::chrono::seconds kIdleFor{5};
constexpr double kMostOfACore = 0.001;

// Of all threads of this process, in seconds.
double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

tuttiResult_t call_once(tuttiComm_t comm) {
  int value = 1;
  return tuttiAllReduce(&value, &value, 1, tuttiInt32, tuttiSum, comm);
}

// The share of a core that the process used while all its communicators were idle, each of them connected.
std::string idle_share(const UniqueId& id, int rank, int num_ranks) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  tuttiUniqueId raw{};
  std::memcpy(raw.internal, id.to_bytes().data(), sizeof raw.internal);
  std::vector<tuttiComm_t> all(kIdleCommunicators);
  tuttiResult_t result = tuttiSuccess;
  for (tuttiComm_t& each : all) {
    if (result != tuttiSuccess) break;
    result = &each == all.data() ? tuttiCommInitRank(&each, num_ranks, raw, rank) : tuttiCommDup(all.front(), &each);
    if (result == tuttiSuccess) result = call_once(each);
  }
  if (result != tuttiSuccess) return tuttiGetLastError(nullptr);
  // The last one to be made is common to all ranks: behind it they are idle together.
  const double before = processor_time();
  std::this_thread::sleep_for(kIdleFor);
  const double used = processor_time() - before;
  for (tuttiComm_t each : all)
    if (result == tuttiSuccess) result = call_once(each);
  for (tuttiComm_t each : all) tuttiCommDestroy(each);
  if (result != tuttiSuccess) return tuttiGetLastError(nullptr);
  return fmt::format("{}", used / std::chrono::duration<double>(kIdleFor).count());
}

TEST(IdleCommunicators, OverHostsUseNoProcessorTime) {
  constexpr int kRanks = 4;
  test::Children children(kRanks, [](int rank, const UniqueId& id, const test::Children::Report& report) {
    setenv("TUTTI_HOST_ID", rank / 2 == 0 ? "here" : "there", 1);
    report(idle_share(id, rank, kRanks));
  });
  const auto server = test::start_server_on_network();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string said = children.line(rank);
    char* end = nullptr;
    const double share = std::strtod(said.c_str(), &end);
    ASSERT_TRUE(!said.empty() && *end == 0) << "rank " << rank << ": " << said;
    EXPECT_LT(share, kMostOfACore) << "rank " << rank;
    fmt::print("rank {}: {:.4f} % of a core with {} idle communicators\n", rank, 100 * share, kIdleCommunicators);
  }
}

// Rank 0 sends to rank 3, with which it has had nothing to do so far, and rank 3 waits in another communicator for rank
// 0, which waits there only behind the send.
std::string send_to_one_elsewhere(const UniqueId& id, int rank, int num_ranks) {
  tuttiUniqueId raw{};
  std::memcpy(raw.internal, id.to_bytes().data(), sizeof raw.internal);
  tuttiComm_t comm = nullptr;
  tuttiComm_t other = nullptr;
  int value = rank == 0 ? 7 : 0;
  tuttiResult_t result = tuttiCommInitRank(&comm, num_ranks, raw, rank);
  if (result == tuttiSuccess) result = tuttiCommDup(comm, &other);
  if (result == tuttiSuccess && rank == 0) result = tuttiSend(&value, 1, tuttiInt32, 3, comm);
  if (result == tuttiSuccess) result = tuttiBarrier(other);
  if (result == tuttiSuccess && rank == 3) result = tuttiRecv(&value, 1, tuttiInt32, 0, comm);
  std::string said = result != tuttiSuccess ? tuttiGetLastError(nullptr) : fmt::format("{}", value);
  tuttiCommDestroy(other);
  tuttiCommDestroy(comm);
  return said;
}

TEST(FirstMessage, ArrivesAtARankThatWaitsInAnotherCommunicator) {
  // In the barrier with which communicators begin, rank 0 talks to all but ranks 3 and 5.
  constexpr int kRanks = 8;
  test::Children children(kRanks, [](int rank, const UniqueId& id, const test::Children::Report& report) {
    setenv("TUTTI_HOST_ID", fmt::format("host{}", rank).c_str(), 1);
    setenv("TUTTI_TIMEOUT", "20s", 1);
    report(send_to_one_elsewhere(id, rank, kRanks));
  });
  const auto server = test::start_server_on_network();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(children.line(rank), rank == 0 || rank == 3 ? "7" : "0") << "rank " << rank;
}

}  // namespace
}  // namespace tutti
