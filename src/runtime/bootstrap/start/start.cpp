// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/start/start.hpp"

#include <utility>

#include <fmt/format.h>

#include "runtime/bootstrap/addresses.hpp"
#include "runtime/bootstrap/start/way.hpp"

namespace tutti {

namespace {

using Method = start::Found (*)(start::Process&);

// The innermost first. torchrun may run under an mpirun or srun, whose variables its workers inherit, and never the
// other way round; so may an mpirun under srun. Only a direct child has the descriptor of MPICH's, so that goes before
// PMIx. Variables that anybody may have set come after those that a launcher alone sets.
constexpr Method kMethods[] = {start::by_tutti_launch, start::by_torchrun,       start::by_pmi,  start::by_pmix,
                               start::by_open_mpi,     start::by_rank_variables, start::by_slurm};

Status started_by_nobody(const std::vector<std::string>& remarks) {
  std::string words = "this process was not started together with others, as far as its environment tells: ";
  for (const std::string& remark : remarks) words += remark + "; ";
  words +=
      "looked for were TUTTI_RANK (tutti launch), PMIX_RANK (PMIx: Open MPI's mpirun, srun), PMI_FD (MPICH's mpirun), "
      "OMPI_COMM_WORLD_RANK, RANK with WORLD_SIZE (torchrun) and SLURM_PROCID (srun); start it as "
      "'tutti launch -n 2 -- PROGRAM'";
  return {Code::invalid_usage, std::move(words)};
}

}  // namespace

Result<Started> Start::find(const Environment& environment, const Variables& variables, const StartOptions& options) {
  const std::scoped_lock lock(mutex_);
  if (found_) return *found_;
  const auto make_id = [this, &variables](const start::Process::Reach& reach) -> Result<UniqueId> {
    if (!server_) {
      RendezvousOptions where;
      if (reach.spans_hosts) {
        const bool is_given = reach.address && variables.text(VariableId::socket_ifname).empty();
        TUTTI_TRY_ASSIGN(where.address, is_given ? *reach.address : address_for_hosts(variables));
      }
      TUTTI_TRY_ASSIGN(server_, RendezvousServer::start(where));
    }
    return server_->id();
  };
  start::Process process{environment, variables, options, make_id, kept_};
  for (const Method method : kMethods) {
    start::Found found = method(process);
    if (!found.ok()) return found.status();
    if (!found->has_value()) continue;
    found_ = **found;
    return *found_;
  }
  // Incomplete variables may come from a launcher with other ranks.
  if (!process.remarks.empty()) return started_by_nobody(process.remarks);
  TUTTI_TRY_ASSIGN(UniqueId id, make_id({}));
  found_ = Started{.rank = 0, .num_ranks = 1, .id = id, .by = "nobody: one rank alone"};
  return *found_;
}

}  // namespace tutti
