// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/locality.hpp"

#include <cerrno>
#include <fstream>
#include <string>

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti::shm {

namespace {

constexpr std::uint64_t kMemoryPage = 4096;
constexpr std::uint32_t kMostNodes = 64;

}  // namespace

bool has_several_nodes() {
  // "0" or "0-1" or "0,2".
  std::ifstream file("/sys/devices/system/node/online");
  std::string text;
  return (file >> text) && text.find_first_of("-,") != std::string::npos;
}

std::uint32_t own_node() {
  unsigned core = 0;
  unsigned node = 0;
  return ::getcpu(&core, &node) == 0 ? node : 0;
}

Status prefer_node(void* begin, std::uint64_t bytes, std::uint32_t node) {
  if (node >= kMostNodes) return {Code::unsupported, "memory nodes from number 64 on are not known here"};
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + kMemoryPage - 1) / kMemoryPage * kMemoryPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(begin) + bytes) / kMemoryPage * kMemoryPage;
  if (end <= first) return {};
  const std::uint64_t nodes = std::uint64_t{1} << node;
  // The kernel takes one bit less than it is told.
  if (::syscall(SYS_mbind, first, end - first, MPOL_PREFERRED, &nodes, kMostNodes + 1, 0) != 0)
    return Status::from_errno("cannot say on which node memory is to lie (mbind)", errno);
  return {};
}

}  // namespace tutti::shm
