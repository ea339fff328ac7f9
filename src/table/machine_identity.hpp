// SPDX-License-Identifier: Apache-2.0
// What tells machines apart as far as tables are concerned: processor, number of cores, caches, and which cores share
// them. Read from the system; thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

struct MachineIdentity {
  std::string processor;  // as the system calls it
  std::uint32_t cores = 1;
  std::string caches;   // "32K of 1, 512K of 1, 16M of 2": each level's size, and how many cores share one
  std::string threads;  // hardware threads of a core
};

// Of a folder that is laid out as / is, for tests. Equal for all processes of the machine, whatever cores they may use.
[[nodiscard]] MachineIdentity identity_of_machine(const std::string& root = "");

// Sixteen hexadecimal digits, which name the file of a machine's table.
[[nodiscard]] std::string fingerprint_of(const MachineIdentity& identity);
// "AMD EPYC, 2 cores, caches 32K of 1, 512K of 1, 16M of 2".
[[nodiscard]] std::string to_string(const MachineIdentity& identity);

}  // namespace tutti
