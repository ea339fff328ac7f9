// SPDX-License-Identifier: Apache-2.0
// Workloads that `tutti record` has written, for tests.
#pragma once

#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../in_folder.hpp"
#include "workload/workload.hpp"

namespace tutti::test {

class RecordInFolder : public InFolder {
 protected:
  [[nodiscard]] Workload workload(const std::string& name = "workload.toml") const {
    Result<Workload> read = read_workload(folder_.read(name), name);
    EXPECT_TRUE(read.ok()) << read.status().to_string();
    return read.ok() ? *std::move(read) : Workload();
  }
};

// By collective, ranks and bytes.
inline std::map<std::string, std::uint64_t> counts_of(const Workload& workload) {
  std::map<std::string, std::uint64_t> counts;
  for (const WorkloadEntry& each : workload.entries)
    counts[fmt::format("{} {} {}", name_of(each.collective), each.ranks, each.bytes)] += each.calls;
  return counts;
}

}  // namespace tutti::test
