#include "bench/launcher_variables.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/units.hpp"
#include "bench/sync_page.hpp"

namespace tutti::harness {

namespace {

struct RankVariables {
  std::string_view launcher;
  std::string_view rank;
  std::string_view num_ranks;
};
// A worker that nobody has told its launcher takes the first that is there: a program may be started by hand.
constexpr std::array<RankVariables, 5> kRankVariables = {
    {{"local", kRankVariable, kNumRanksVariable},
     {"mpirun.openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
     {"mpirun.mpich", "PMI_RANK", "PMI_SIZE"},
     {"srun", "SLURM_PROCID", "SLURM_NTASKS"},
     {"torchrun", "RANK", "WORLD_SIZE"}}};

// What Open MPI, PMIx, PMI, Hydra, Slurm and torchrun tell a rank of its own place and of how to reach its launcher.
// Not here: OMPI_MCA_... and PMIX_MCA_... that users set, SLURM_JOB_ID and all that an mpirun learns its hosts from.
constexpr auto kNames = std::to_array<std::string_view>({kWorkerVariable,
                                                         kLauncherVariable,
                                                         kRankVariable,
                                                         kNumRanksVariable,
                                                         kProgramVariable,
                                                         "OMPI_UNIVERSE_SIZE",
                                                         "OMPI_NUM_APP_CTX",
                                                         "OMPI_FIRST_RANKS",
                                                         "OMPI_FILE_LOCATION",
                                                         "OMPI_COMMAND",
                                                         "OMPI_ARGV",
                                                         "OMPI_MCA_ess",
                                                         "OMPI_MCA_pmix",
                                                         "OMPI_MCA_initial_wdir",
                                                         "OMPI_MCA_mpi_oversubscribe",
                                                         "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
                                                         "OMPI_MCA_orte_app_num",
                                                         "OMPI_MCA_orte_bound_at_launch",
                                                         "OMPI_MCA_orte_hnp_uri",
                                                         "OMPI_MCA_orte_jobfam_session_dir",
                                                         "OMPI_MCA_orte_launch",
                                                         "OMPI_MCA_orte_local_daemon_uri",
                                                         "OMPI_MCA_orte_num_nodes",
                                                         "OMPI_MCA_orte_precondition_transports",
                                                         "OMPI_MCA_orte_top_session_dir",
                                                         "PMIX_BFROP_BUFFER_TYPE",
                                                         "PMIX_GDS_MODULE",
                                                         "PMIX_HOSTNAME",
                                                         "PMIX_ID",
                                                         "PMIX_NAMESPACE",
                                                         "PMIX_PTL_MODULE",
                                                         "PMIX_RANK",
                                                         "PMIX_SECURITY_MODE",
                                                         "PMIX_VERSION",
                                                         "PMI_APPNUM",
                                                         "PMI_FD",
                                                         "PMI_ID",
                                                         "PMI_LOCAL_RANK",
                                                         "PMI_LOCAL_SIZE",
                                                         "PMI_PORT",
                                                         "PMI_RANK",
                                                         "PMI_SIZE",
                                                         "PMI_SPAWNED",
                                                         "PMI_UNIVERSE_SIZE",
                                                         "MPI_LOCALNRANKS",
                                                         "MPI_LOCALRANKID",
                                                         "HYDI_CONTROL_FD",
                                                         "SLURM_PROCID",
                                                         "SLURM_LOCALID",
                                                         "SLURM_TASK_PID",
                                                         "SLURM_GTIDS",
                                                         "RANK",
                                                         "WORLD_SIZE",
                                                         "LOCAL_RANK",
                                                         "LOCAL_WORLD_SIZE",
                                                         "GROUP_RANK",
                                                         "GROUP_WORLD_SIZE",
                                                         "ROLE_RANK",
                                                         "ROLE_WORLD_SIZE",
                                                         "ROLE_NAME"});
constexpr auto kBeginnings =
    std::to_array<std::string_view>({"OMPI_COMM_WORLD_", "OMPI_APP_CTX_", "OMPI_MCA_ess_base_", "OMPI_MCA_orte_ess_",
                                     "PMIX_SERVER_", "PMIX_DSTORE_", "TORCHELASTIC_"});

std::optional<int> number_in(const Environment& environment, std::string_view name) {
  const std::optional<std::string> text = environment.lookup(name);
  if (!text) return std::nullopt;
  const Result<std::int64_t> number = parse_integer(*text);
  if (!number.ok() || *number < 0 || *number > SyncPage::kMostRanks) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

Result<Place> place_in(const Environment& environment) {
  const std::string launcher = environment.lookup(kLauncherVariable).value_or("");
  for (const RankVariables& names : kRankVariables) {
    if (!launcher.empty() && names.launcher != launcher) continue;
    const std::optional<int> rank = number_in(environment, names.rank);
    const std::optional<int> num_ranks = number_in(environment, names.num_ranks);
    if (rank && num_ranks) return Place{*rank, *num_ranks};
    if (!launcher.empty())
      return Status(Code::invalid_usage, fmt::format("{} has not said which rank this is; {} and {} would", launcher,
                                                     names.rank, names.num_ranks));
  }
  return Status(Code::invalid_usage, fmt::format("no launcher has said which rank this is; {} and {} would",
                                                 kRankVariable, kNumRanksVariable));
}

bool is_of_a_launch(std::string_view name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

bool has_rank(const std::vector<std::string_view>& entries) {
  return std::any_of(entries.begin(), entries.end(), [](std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('='));
    return std::any_of(kRankVariables.begin(), kRankVariables.end(),
                       [&](const RankVariables& names) { return names.rank == name; });
  });
}

void set_variable(std::vector<std::string>& block, std::string_view name, std::string_view value) {
  std::erase_if(block, [&](std::string_view entry) { return entry.substr(0, entry.find('=')) == name; });
  block.push_back(fmt::format("{}={}", name, value));
}

}  // namespace tutti::harness
