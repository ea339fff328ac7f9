#include "runtime/busy_core.hpp"

#include <bit>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <utility>
#include <vector>

#include <sched.h>
#include <sys/types.h>

namespace tutti {

namespace {

constexpr std::size_t kBits = 64;
constexpr std::size_t kWords = shm::kMaxCores / kBits;

std::uint64_t cores_in(const shm::Region& region, std::uint32_t rank, std::size_t word) {
  return region.cores(rank, word).load(std::memory_order_relaxed);
}

bool share_a_core(const shm::Region& region, std::uint32_t one, std::uint32_t other) {
  for (std::size_t word = 0; word < kWords; ++word)
    if ((cores_in(region, one, word) & cores_in(region, other, word)) != 0) return true;
  return false;
}

cpu_set_t cores_of_all(const shm::Region& region) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::uint32_t rank = 0; rank < region.shape().num_ranks; ++rank)
    for (std::size_t word = 0; word < kWords; ++word)
      for (std::uint64_t left = cores_in(region, rank, word); left != 0; left &= left - 1) {
        const std::size_t core = word * kBits + static_cast<std::size_t>(std::countr_zero(left));
        if (core < CPU_SETSIZE) CPU_SET(core, &set);
      }
  return set;
}

std::size_t num_own_cores(const shm::Region& region, std::uint32_t rank) {
  std::size_t count = 0;
  for (std::size_t word = 0; word < kWords; ++word)
    count += static_cast<std::size_t>(std::popcount(cores_in(region, rank, word)));
  return count;
}

std::optional<std::chrono::nanoseconds> processor_time(const std::vector<clockid_t>& clocks) {
  std::chrono::nanoseconds sum{0};
  for (const clockid_t clock : clocks) {
    timespec time{};
    if (clock_gettime(clock, &time) != 0) return std::nullopt;
    sum += std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  return sum;
}

}  // namespace

std::optional<shm::CoreWatch::Senses> senses_of_core(const shm::Region& region, std::uint32_t rank,
                                                     std::function<void()> on_leave) {
  const cpu_set_t all = cores_of_all(region);
  if (static_cast<std::size_t>(CPU_COUNT(&all)) <= num_own_cores(region, rank)) return std::nullopt;
  const auto process_of = [&](std::uint32_t each) { return region.call(each).process.load(std::memory_order_relaxed); };
  std::vector<clockid_t> clocks;
  for (std::uint32_t other = 0; other < region.shape().num_ranks; ++other) {
    if (other == rank || !share_a_core(region, rank, other)) continue;
    clockid_t clock{};
    if (process_of(other) == process_of(rank) || clock_getcpuclockid(process_of(other), &clock) != 0)
      return std::nullopt;
    clocks.push_back(clock);
  }
  if (clocks.empty()) return std::nullopt;
  return shm::CoreWatch::Senses{
      .now = [] { return std::chrono::steady_clock::now().time_since_epoch(); },
      .time_of_ranks = [clocks = std::move(clocks)] { return processor_time(clocks); },
      .yield = [] { sched_yield(); },
      .leave =
          [all, on_leave = std::move(on_leave)] {
            if (sched_setaffinity(0, sizeof all, &all) == 0) on_leave();
          },
  };
}

}  // namespace tutti
