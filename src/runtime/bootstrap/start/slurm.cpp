// SPDX-License-Identifier: Apache-2.0
// srun's variables, where its plugins for PMIx and PMI are not in use.
#include <fmt/format.h>

#include "runtime/bootstrap/start/network_meeting.hpp"

namespace tutti::start {

namespace {

// Steps from here on are the batch script, the shell of an allocation and the like: one process, whatever SLURM_NTASKS
// says.
constexpr std::int64_t kFirstSpecialStep = 0xFFFFFFF0;

// Rank 0 is on the first node of a step. Where its name means nothing to the system, MASTER_ADDR may say another.
Result<MeetingHost> host_of_rank_0(const Environment& environment, std::int64_t nodes) {
  const std::string why = fmt::format("SLURM_STEP_NUM_NODES is {}", nodes);
  if (environment.lookup("MASTER_ADDR")) return master_host(environment, why);
  const std::string name = first_of_nodes(environment.lookup("SLURM_STEP_NODELIST").value_or(""));
  if (name.empty()) return Status(Code::invalid_usage, why + ", and SLURM_STEP_NODELIST does not name them");
  return MeetingHost{"SLURM_STEP_NODELIST", name};
}

}  // namespace

std::string first_of_nodes(std::string_view list) {
  std::string name;
  bool in_brackets = false;
  bool is_past = false;  // the first number in brackets
  for (const char letter : list) {
    if (letter == ',' && !in_brackets) break;
    if (letter == '[') {
      in_brackets = true;
      is_past = false;
    } else if (letter == ']') {
      in_brackets = false;
    } else if (in_brackets && (letter == '-' || letter == ',')) {
      is_past = true;
    } else if (!in_brackets || !is_past) {
      name += letter;
    }
  }
  return name;
}

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
  TUTTI_TRY_ASSIGN(const std::optional<std::int64_t> job, number_in(environment, "SLURM_JOB_ID", {0, 0xFFFFFFFF}));
  if (!job) return Status(Code::invalid_usage, "SLURM_JOB_ID is not set; it goes with SLURM_STEP_ID");
  const LocalMeeting meeting{"srun", *ranks, fmt::format("srun (job {}, step {})", *job, *step)};
  if (nodes.value_or(1) == 1) {
    TUTTI_TRY_ASSIGN(const Started started, meet_here(process, meeting));
    return std::optional(started);
  }
  TUTTI_TRY_ASSIGN(const MeetingHost host, host_of_rank_0(environment, *nodes));
  TUTTI_TRY_ASSIGN(const Started started, meet_on_network(process, meeting, host));
  return std::optional(started);
}

}  // namespace tutti::start
