// SPDX-License-Identifier: Apache-2.0
// A workload: the collectives that a program calls, how often, and what it computes in between. Files as
// docs/formats/workload.md has them. Values; reading is pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "data/collective.hpp"
#include "data/type.hpp"

namespace tutti {

inline constexpr std::uint32_t kWorkloadVersion = 1;
inline constexpr std::uint64_t kMostWorkloadBytes = std::uint64_t{16} << 20U;
inline constexpr std::uint32_t kMostWorkloadRanks = 1U << 20U;
inline constexpr std::uint32_t kMostWorkloadCalls = 4'000'000'000;  // of an entry

// Calls that are alike.
struct WorkloadEntry {
  Collective collective = Collective::all_reduce;
  std::uint32_t ranks = 1;  // of the communicator; the workload's or fewer
  std::uint64_t bytes = 0;  // as nccl-tests means them; 0 of a barrier only
  Type type = Type::f32;
  std::uint32_t root = 0;
  std::uint32_t calls = 1;
  double compute_us = 0;   // before each of them
  double measured_us = 0;  // that each took where it was recorded; 0: nobody knows
  std::string site;        // where the program calls; may be empty
  std::string algorithm;   // with its parameters, if it has any; empty: the fastest
  std::string place;       // "my.toml:12: entries[3]", for messages
};

struct Workload {
  std::string about;
  std::uint32_t ranks = 1;
  std::vector<WorkloadEntry> entries;  // in the order of the program
};

// An error names file, line and key; `file` stands in messages only.
[[nodiscard]] Result<Workload> read_workload(std::string_view text, std::string_view file);

// What read_workload reads back to the same.
[[nodiscard]] std::string to_text(const Workload& workload);

}  // namespace tutti
