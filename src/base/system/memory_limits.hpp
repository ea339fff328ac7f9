// SPDX-License-Identifier: Apache-2.0
// How much memory this process can have: what the machine has, or where less, what the control groups that the process
// is in (containers, batch systems) leave of it. Read anew each time; thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

struct MemoryLimits {
  // Bytes, with what can be swapped out; no limit where the system does not say.
  std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t available = ~std::uint64_t{0};  // of that, what is free or can be freed
  bool by_control_group = false;                // else by the machine

  // "the machine has 100 bytes, of which 50 can be had"
  [[nodiscard]] std::string to_string() const;

  // The files lie under `root`, which is not the system's own in tests: /proc/meminfo, /proc/self/cgroup, and
  // /sys/fs/cgroup with what there is of version 2 and of version 1's memory controller.
  [[nodiscard]] static MemoryLimits of_this_process(const std::string& root = "");
};

// What `ulimit -v` and `ulimit -d` leave this process, for the end of a message: " (this process may have 4096 KiB of
// address space: ulimit -v)". Empty where both are unlimited.
[[nodiscard]] std::string memory_ulimits_text();

}  // namespace tutti
