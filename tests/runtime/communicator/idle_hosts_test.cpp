// SPDX-License-Identifier: Apache-2.0
// What communicators over hosts cost while nobody calls anything: next to nothing, however many a process has.
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

}  // namespace
}  // namespace tutti
