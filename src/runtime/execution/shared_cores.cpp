// SPDX-License-Identifier: Apache-2.0
#include "runtime/execution/shared_cores.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include <sched.h>

#include "algorithms/cases.hpp"

namespace tutti {

namespace {

constexpr std::size_t kBits = 64;
constexpr std::size_t kWords = shm::kMaxCores / kBits;

std::uint64_t cores_in(const shm::Region& region, std::uint32_t rank, std::size_t word) {
  return region.is_here(rank) ? region.cores(rank, word).load(std::memory_order_relaxed) : 0;
}

bool have_same(const shm::Region& region, std::uint32_t one, std::uint32_t other) {
  for (std::size_t word = 0; word < kWords; ++word)
    if (cores_in(region, one, word) != cores_in(region, other, word)) return false;
  return true;
}

}  // namespace

std::uint32_t own_cores_of(const shm::Region& region, std::uint32_t rank) {
  std::uint32_t count = 0;
  for (std::size_t word = 0; word < kWords; ++word)
    count += static_cast<std::uint32_t>(std::popcount(cores_in(region, rank, word)));
  return count;
}

bool share_a_core(const shm::Region& region, std::uint32_t one, std::uint32_t other) {
  for (std::size_t word = 0; word < kWords; ++word)
    if ((cores_in(region, one, word) & cores_in(region, other, word)) != 0) return true;
  return false;
}

cpu_set_t cores_of_rank(const shm::Region& region, std::uint32_t rank) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::size_t word = 0; word < kWords; ++word)
    for (std::uint64_t left = cores_in(region, rank, word); left != 0; left &= left - 1) {
      const std::size_t core = word * kBits + static_cast<std::size_t>(std::countr_zero(left));
      if (core < CPU_SETSIZE) CPU_SET(core, &set);
    }
  return set;
}

cpu_set_t cores_of_all(const shm::Region& region) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (std::uint32_t rank = 0; rank < region.shape().num_ranks; ++rank) {
    const cpu_set_t own = cores_of_rank(region, rank);
    CPU_OR(&all, &all, &own);
  }
  return all;
}

void tell_own_cores(const shm::Region& region, std::uint32_t rank) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  for (std::size_t word = 0; word < kWords; ++word) {
    std::uint64_t cores = 0;
    for (std::size_t bit = 0; bit < kBits && word * kBits + bit < CPU_SETSIZE; ++bit)
      if (CPU_ISSET(word * kBits + bit, &set)) cores |= std::uint64_t{1} << bit;
    region.cores(rank, word).store(cores, std::memory_order_relaxed);
  }
}

std::uint32_t cores_of(const shm::Region& region, std::uint32_t num_ranks) {
  std::uint32_t count = 0;
  for (std::size_t word = 0; word < kWords; ++word) {
    std::uint64_t any = 0;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) any |= cores_in(region, rank, word);
    count += static_cast<std::uint32_t>(std::popcount(any));
  }
  return std::max(count, 1U);
}

bool shares_cores(const shm::Region& region) {
  const std::uint32_t num_ranks = region.shape().num_ranks;
  if (region.shape().num_local() > cores_of(region, num_ranks)) return true;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    const std::uint32_t own = own_cores_of(region, rank);
    if (own == 0 || own >= num_ranks - rank) continue;  // too few are left
    std::uint32_t alike = 1;
    for (std::uint32_t other = rank + 1; other < num_ranks; ++other) alike += have_same(region, rank, other) ? 1 : 0;
    if (alike > own) return true;
  }
  return false;
}

std::uint32_t ranks_to_fold(const shm::Region& region) {
  const std::uint32_t num_ranks = region.shape().num_ranks;
  const std::uint32_t num_cores = cores_of(region, num_ranks);
  if (num_cores > kMostRadix || num_ranks <= num_cores) return 0;
  return cores_of(region, num_cores) >= num_cores ? num_cores : 0;
}

}  // namespace tutti
