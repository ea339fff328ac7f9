// What ran, for the C API and the log.
#include "runtime/statistics.hpp"

#include "api/handle.hpp"

namespace tutti::api {

// Of rank 0 alone: collectives are the same everywhere.
void log_statistics(const tuttiComm& comm) {
  if (comm.communicator->rank() != 0 || !comm.communicator->is_of_this_process() ||
      !comm.log->enabled(LogLevel::info, LogSubsystem::coll))
    return;
  const std::vector<Statistic> statistics = comm.communicator->statistics();
  if (!statistics.empty()) comm.log->write(LogLevel::info, LogSubsystem::coll, "what ran:\n" + to_table(statistics));
}

}  // namespace tutti::api

extern "C" tuttiResult_t tuttiCommGetStatistics(tuttiComm_t comm, const tuttiStatistic_t** statistics, int* count) {
  using tutti::api::refuse;
  return tutti::api::within(comm, [&]() -> tuttiResult_t {
    if (statistics == nullptr || count == nullptr)
      return refuse(statistics == nullptr ? "statistics is null" : "count is null");
    comm->statistics.clear();
    for (const tutti::Statistic& each : comm->communicator->statistics())
      comm->statistics.push_back({.operation = each.operation.data(),
                                  .algorithm = each.algorithm.data(),
                                  .reach = each.reach.data(),
                                  .calls = each.calls,
                                  .bytes = each.bytes.value_or(TUTTI_BYTES_NOT_COUNTED)});
    *statistics = comm->statistics.data();
    *count = static_cast<int>(comm->statistics.size());
    return tuttiSuccess;
  });
}
