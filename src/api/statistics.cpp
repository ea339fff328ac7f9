// SPDX-License-Identifier: Apache-2.0
// What ran, for the C API and the log.
#include "runtime/communicator/statistics.hpp"

#include "api/handle.hpp"

namespace tutti::api {

// Of rank 0 alone: collectives are the same everywhere.
void log_statistics(const tuttiComm& comm) {
  if (comm.communicator->rank() != 0 || !comm.communicator->is_of_this_process() ||
      !comm.surroundings->log->enabled(LogLevel::info, LogSubsystem::coll))
    return;
  const std::vector<Statistic> statistics = comm.communicator->statistics();
  if (!statistics.empty())
    comm.surroundings->log->write(LogLevel::info, LogSubsystem::coll, "what ran:\n" + to_table(statistics));
}

}  // namespace tutti::api

extern "C" tuttiResult_t tuttiCommGetStatistics(tuttiComm_t comm, const tuttiStatistic_t** statistics, int* count) {
  using tutti::api::refuse;
  return tutti::api::within_finalized(comm, [&]() -> tuttiResult_t {
    if (statistics == nullptr || count == nullptr)
      return refuse(statistics == nullptr ? "statistics is null" : "count is null");
    std::vector<tuttiStatistic_t>& rows = comm->surroundings->statistics;
    rows.clear();
    for (const tutti::Statistic& each : comm->communicator->statistics())
      rows.push_back({.operation = each.operation.data(),
                      .algorithm = each.algorithm.data(),
                      .reach = each.reach.data(),
                      .calls = each.calls,
                      .bytes = each.bytes.value_or(TUTTI_BYTES_NOT_COUNTED)});
    *statistics = rows.data();
    *count = static_cast<int>(rows.size());
    return tuttiSuccess;
  });
}
