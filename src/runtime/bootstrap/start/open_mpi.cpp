// SPDX-License-Identifier: Apache-2.0
// The variables of Open MPI's mpirun, where there is no libpmix to speak to it through.
#include <fmt/format.h>

#include "base/text.hpp"
#include "runtime/bootstrap/start/local_meeting.hpp"

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
  // Two mpiruns may give their jobs the same number; their folders differ.
  const std::string key = fmt::format("Open MPI's mpirun (job {}, {})", printable(job.value_or("")),
                                      printable(environment.lookup("PMIX_SERVER_TMPDIR").value_or("")));
  TUTTI_TRY_ASSIGN(const Started started, meet_here(process, {"Open MPI's mpirun", ranks, key}));
  return std::optional(started);
}

}  // namespace tutti::start
