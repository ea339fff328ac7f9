// SPDX-License-Identifier: Apache-2.0
// srun's variables, where its plugins for PMIx and PMI are not in use.
#include <fmt/format.h>

#include "base/counted.hpp"
#include "runtime/bootstrap/start/local_meeting.hpp"

namespace tutti::start {

namespace {

// Steps from here on are the batch script, the shell of an allocation and the like: one process, whatever SLURM_NTASKS
// says.
constexpr std::int64_t kFirstSpecialStep = 0xFFFFFFF0;

}  // namespace

Found by_slurm(Process& process) {
  const Environment& environment = process.environment;
  if (!environment.lookup("SLURM_PROCID")) return nothing();
  TUTTI_TRY_ASSIGN(const std::optional<std::int64_t> step, number_in(environment, "SLURM_STEP_ID", {0, 0xFFFFFFFF}));
  // One process, and so one rank.
  if (step && *step >= kFirstSpecialStep) return nothing();
  if (!step) {
    process.remarks.emplace_back("SLURM_PROCID is set, but this is no step of srun (SLURM_STEP_ID)");
    return nothing();
  }
  // The number for the whole allocation may be another than that of this step.
  const bool of_step = environment.lookup("SLURM_STEP_NUM_TASKS").has_value();
  const Result<Ranks> ranks =
      ranks_in(environment, {.rank = "SLURM_PROCID", .num_ranks = of_step ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS"});
  if (!ranks.ok()) return ranks.status();
  TUTTI_TRY_ASSIGN(const std::optional<std::int64_t> nodes,
                   number_in(environment, "SLURM_STEP_NUM_NODES", {1, kMostRanks}));
  if (nodes.value_or(1) > 1)
    return Status(Code::unsupported, fmt::format("srun brings ranks of several hosts together by PMIx alone (srun "
                                                 "--mpi=pmix); SLURM_STEP_NUM_NODES is {}, for {}",
                                                 *nodes, counted(ranks->num_ranks, "rank")));
  TUTTI_TRY_ASSIGN(const std::optional<std::int64_t> job, number_in(environment, "SLURM_JOB_ID", {0, 0xFFFFFFFF}));
  if (!job) return Status(Code::invalid_usage, "SLURM_JOB_ID is not set; it goes with SLURM_STEP_ID");
  const Result<Started> started =
      meet_here(process, {"srun", *ranks, fmt::format("srun (job {}, step {})", *job, *step)});
  if (!started.ok()) return started.status();
  return std::optional(*started);
}

}  // namespace tutti::start
