// SPDX-License-Identifier: Apache-2.0
#include "runtime/execution/busy_core.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include <sched.h>
#include <sys/types.h>

#include "runtime/execution/shared_cores.hpp"

namespace tutti {

namespace {

// The clocks of all ranks' processes that this process has met on its cores, in any communicator. What such a rank
// computes there is not foreign, whichever communicator it computes for. So the list belongs to the process.
class RanksOnOwnCores {
 public:
  void add(clockid_t clock) {
    const std::scoped_lock lock(mutex_);
    if (std::find(clocks_.begin(), clocks_.end(), clock) == clocks_.end()) clocks_.push_back(clock);
  }
  // A process that has ended takes no time any more.
  std::chrono::nanoseconds processor_time() {
    const std::scoped_lock lock(mutex_);
    std::chrono::nanoseconds sum{0};
    for (const clockid_t clock : clocks_) {
      timespec time{};
      if (clock_gettime(clock, &time) != 0) continue;
      sum += std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }
    return sum;
  }

 private:
  std::mutex mutex_;
  std::vector<clockid_t> clocks_;
};

RanksOnOwnCores& ranks_on_own_cores() {
  static RanksOnOwnCores ranks;
  return ranks;
}

// Adds all ranks that share a core with this one. False where there are none, or one has no clock of its own.
bool add_ranks_beside(const shm::Region& region, std::uint32_t rank) {
  const auto process_of = [&](std::uint32_t each) { return region.call(each).process.load(std::memory_order_relaxed); };
  bool has_any = false;
  for (std::uint32_t other = 0; other < region.shape().num_ranks; ++other) {
    if (other == rank || !share_a_core(region, rank, other)) continue;
    clockid_t clock{};
    if (process_of(other) == process_of(rank) || clock_getcpuclockid(process_of(other), &clock) != 0) return false;
    ranks_on_own_cores().add(clock);
    has_any = true;
  }
  return has_any;
}

// Widens the thread's cores, unless the program has bound it otherwise since it told its cores.
bool widen(const cpu_set_t& own, const cpu_set_t& all) {
  cpu_set_t now;
  CPU_ZERO(&now);
  if (sched_getaffinity(0, sizeof now, &now) != 0 || !CPU_EQUAL(&now, &own)) return false;
  return sched_setaffinity(0, sizeof all, &all) == 0;
}

}  // namespace

std::optional<shm::CoreWatch::Senses> senses_of_core(const shm::Region& region, std::uint32_t rank,
                                                     std::function<void()> on_leave) {
  const cpu_set_t own = cores_of_rank(region, rank);
  const cpu_set_t all = cores_of_all(region);
  if (!add_ranks_beside(region, rank) || CPU_EQUAL(&own, &all)) return std::nullopt;
  return shm::CoreWatch::Senses{
      .now = [] { return std::chrono::steady_clock::now().time_since_epoch(); },
      .time_of_ranks = [] { return std::optional(ranks_on_own_cores().processor_time()); },
      .yield = [] { sched_yield(); },
      .leave =
          [own, all, on_leave = std::move(on_leave)] {
            if (widen(own, all)) on_leave();
          },
  };
}

}  // namespace tutti
