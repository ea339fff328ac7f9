// SPDX-License-Identifier: Apache-2.0
// Facts about a communicator, and the id at which its ranks meet.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tutti/cpp/error.hpp>
#include <tutti/tutti.h>

namespace tutti {
inline namespace v0_1 {

using UniqueId = tuttiUniqueId;

// An id for one communicator, for all its ranks. This process serves the rendezvous until all have joined.
[[nodiscard]] inline UniqueId make_unique_id() {
  UniqueId id;
  detail::check(tuttiGetUniqueId(&id), "make_unique_id");
  return id;
}

// The algorithm of a call, and the reason. Both live as long as the communicator.
struct Algorithm {
  const char* name;
  const char* why;
};

// A row of statistics (tuttiStatistic_t).
struct Statistic {
  std::string operation;
  std::string algorithm;
  std::string reach;
  std::uint64_t calls = 0;
  std::optional<std::uint64_t> bytes;  // nothing if they are not counted

  [[nodiscard]] static std::vector<Statistic> all_of(tuttiComm_t comm) {
    const tuttiStatistic_t* rows = nullptr;
    int count = 0;
    detail::check(tuttiCommGetStatistics(comm, &rows, &count), "statistics");
    std::vector<Statistic> all;
    for (const tuttiStatistic_t* row = rows; row != rows + count; ++row) {
      all.push_back({row->operation, row->algorithm, row->reach, row->calls, row->bytes});
      if (row->bytes == TUTTI_BYTES_NOT_COUNTED) all.back().bytes.reset();
    }
    return all;
  }
};

// What a communicator's calls take on a simulated fabric (tuttiGetVirtualTime).
struct VirtualTime {
  using Duration = std::chrono::duration<double, std::nano>;
  Duration now{};        // this rank's clock
  Duration last_call{};  // how long the last collective took, until its last rank was done

  [[nodiscard]] static VirtualTime of(tuttiComm_t comm) {
    double now = 0;
    double last_call = 0;
    detail::check(tuttiGetVirtualTime(comm, &now, &last_call), "virtual_time");
    return {Duration(now), Duration(last_call)};
  }
};

}  // namespace v0_1
}  // namespace tutti
