// SPDX-License-Identifier: Apache-2.0
// The variables of Open MPI's mpirun, where there is no libpmix to speak to it through. They do not say where rank 0
// is; over several hosts, MASTER_ADDR must.
#include <fmt/format.h>

#include "base/text.hpp"
#include "runtime/bootstrap/start/network_meeting.hpp"

namespace tutti::start {

Found by_open_mpi(Process& process) {
  const Environment& environment = process.environment;
  if (!environment.lookup("OMPI_COMM_WORLD_RANK")) return nothing();
  TUTTI_TRY_ASSIGN(const Ranks ranks, ranks_in(environment, {.rank = "OMPI_COMM_WORLD_RANK",
                                                             .num_ranks = "OMPI_COMM_WORLD_SIZE",
                                                             .num_here = "OMPI_COMM_WORLD_LOCAL_SIZE"}));
  const std::optional<std::string> job = environment.lookup("PMIX_NAMESPACE");
  if (!job && ranks.num_ranks > 1)
    return Status(Code::invalid_usage, "PMIX_NAMESPACE is not set; it goes with OMPI_COMM_WORLD_RANK");
  if (ranks.span_hosts) {
    TUTTI_TRY_ASSIGN(
        const MeetingHost host,
        master_host(environment,
                    fmt::format("OMPI_COMM_WORLD_SIZE is {}, and {} of these are on this host; libpmix.so.2 "
                                "cannot be opened",
                                ranks.num_ranks, environment.lookup("OMPI_COMM_WORLD_LOCAL_SIZE").value_or("?"))));
    TUTTI_TRY_ASSIGN(const Started started,
                     meet_on_network(process,
                                     {"Open MPI's mpirun", ranks,
                                      fmt::format("Open MPI's mpirun (job {})", printable(job.value_or("")))},
                                     host));
    return std::optional(started);
  }
  // Two mpiruns may give their jobs the same number; their folders differ.
  const std::string key = fmt::format("Open MPI's mpirun (job {}, {})", printable(job.value_or("")),
                                      printable(environment.lookup("PMIX_SERVER_TMPDIR").value_or("")));
  TUTTI_TRY_ASSIGN(const Started started, meet_here(process, {"Open MPI's mpirun", ranks, key}));
  return std::optional(started);
}

}  // namespace tutti::start
