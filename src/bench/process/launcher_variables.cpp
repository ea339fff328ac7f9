// SPDX-License-Identifier: Apache-2.0
#include "bench/process/launcher_variables.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/units.hpp"
#include "bench/measure/sync_page.hpp"

namespace tutti::harness {

namespace {

struct RankVariables {
  std::string_view launcher;
  std::string_view rank;
  std::string_view num_ranks;
};
// A worker that nobody has told its launcher takes the first that is there: a program may be started by hand.
constexpr std::array<RankVariables, 6> kRankVariables = {
    {{"local", kRankVariable, kNumRanksVariable},
     {kLaunchOverHosts, "TUTTI_RANK", "TUTTI_NUM_RANKS"},
     {"mpirun.openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
     {"mpirun.mpich", "PMI_RANK", "PMI_SIZE"},
     {"srun", "SLURM_PROCID", "SLURM_NTASKS"},
     {"torchrun", "RANK", "WORLD_SIZE"}}};

using Names = std::span<const std::string_view>;

constexpr auto kOfTutti = std::to_array<std::string_view>(
    {kWorkerVariable, kLauncherVariable, kRankVariable, kNumRanksVariable, kProgramVariable});
// torchrun's that the local launcher sets too, and its others.
constexpr auto kOfTorchrunAndTutti =
    std::to_array<std::string_view>({"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"});
constexpr auto kOfTorchrun = std::to_array<std::string_view>(
    {"GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_WORLD_SIZE", "ROLE_NAME", "TORCHELASTIC_*"});
constexpr auto kOfTuttiLaunch =
    std::to_array<std::string_view>({"TUTTI_RANK", "TUTTI_NUM_RANKS", "TUTTI_UNIQUE_ID", "TUTTI_LOCAL_CORE"});
constexpr auto kOfOpenMpi = std::to_array<std::string_view>({"OMPI_UNIVERSE_SIZE",
                                                             "OMPI_NUM_APP_CTX",
                                                             "OMPI_FIRST_RANKS",
                                                             "OMPI_FILE_LOCATION",
                                                             "OMPI_COMMAND",
                                                             "OMPI_ARGV",
                                                             "OMPI_COMM_WORLD_*",
                                                             "OMPI_APP_CTX_*",
                                                             "OMPI_MCA_ess",
                                                             "OMPI_MCA_ess_base_*",
                                                             "OMPI_MCA_pmix",
                                                             "OMPI_MCA_initial_wdir",
                                                             "OMPI_MCA_mpi_oversubscribe",
                                                             "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
                                                             "OMPI_MCA_orte_app_num",
                                                             "OMPI_MCA_orte_bound_at_launch",
                                                             "OMPI_MCA_orte_ess_*",
                                                             "OMPI_MCA_orte_hnp_uri",
                                                             "OMPI_MCA_orte_jobfam_session_dir",
                                                             "OMPI_MCA_orte_launch",
                                                             "OMPI_MCA_orte_local_daemon_uri",
                                                             "OMPI_MCA_orte_num_nodes",
                                                             "OMPI_MCA_orte_precondition_transports",
                                                             "OMPI_MCA_orte_top_session_dir",
                                                             "PMIX_BFROP_BUFFER_TYPE",
                                                             "PMIX_DSTORE_*",
                                                             "PMIX_GDS_MODULE",
                                                             "PMIX_HOSTNAME",
                                                             "PMIX_ID",
                                                             "PMIX_NAMESPACE",
                                                             "PMIX_PTL_MODULE",
                                                             "PMIX_RANK",
                                                             "PMIX_SECURITY_MODE",
                                                             "PMIX_SERVER_*",
                                                             "PMIX_VERSION"});
constexpr auto kOfMpich = std::to_array<std::string_view>(
    {"PMI_APPNUM", "PMI_FD", "PMI_ID", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", "PMI_PORT", "PMI_RANK", "PMI_SIZE",
     "PMI_SPAWNED", "PMI_UNIVERSE_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID", "HYDI_CONTROL_FD"});
constexpr auto kOfSlurm =
    std::to_array<std::string_view>({"SLURM_PROCID", "SLURM_LOCALID", "SLURM_TASK_PID", "SLURM_GTIDS"});

// What launchers tell a rank of its own place and of how to reach them; a * stands for any end. Not here: OMPI_MCA_...
// and PMIX_MCA_... that users set, SLURM_JOB_ID and all that an mpirun learns its hosts from.
struct Teller {
  std::string_view who;
  Names names;
};
constexpr std::array<Teller, 7> kTellers = {{{"Tutti", kOfTutti},
                                             {"tutti launch", kOfTuttiLaunch},
                                             {"Tutti, as torchrun does,", kOfTorchrunAndTutti},
                                             {"torchrun", kOfTorchrun},
                                             {"Open MPI's mpirun", kOfOpenMpi},
                                             {"MPICH's mpirun", kOfMpich},
                                             {"srun", kOfSlurm}}};

bool is_one_of(std::string_view name, Names names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view each) {
    return each.ends_with('*') ? name.starts_with(each.substr(0, each.size() - 1)) : name == each;
  });
}

std::optional<int> number_in(const Environment& environment, std::string_view name) {
  const std::optional<std::string> text = environment.lookup(name);
  if (!text) return std::nullopt;
  const Result<std::int64_t> number = parse_integer(*text);
  if (!number.ok() || *number < 0 || *number > SyncPage::kMostRanks) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

Result<WorldRank> world_rank_in(const Environment& environment) {
  const std::string launcher = environment.lookup(kLauncherVariable).value_or("");
  for (const RankVariables& names : kRankVariables) {
    if (!launcher.empty() && names.launcher != launcher) continue;
    const std::optional<int> rank = number_in(environment, names.rank);
    const std::optional<int> num_ranks = number_in(environment, names.num_ranks);
    if (rank && num_ranks) return WorldRank{*rank, *num_ranks};
    if (!launcher.empty())
      return Status(Code::invalid_usage, fmt::format("{} has not said which rank this is; {} and {} would", launcher,
                                                     names.rank, names.num_ranks));
  }
  return Status(Code::invalid_usage, fmt::format("no launcher has said which rank this is; {} and {} would",
                                                 kRankVariable, kNumRanksVariable));
}

std::string_view teller_of(std::string_view name) {
  for (const Teller& teller : kTellers)
    if (is_one_of(name, teller.names)) return teller.who;
  return {};
}

bool is_of_a_launch(std::string_view name) { return !teller_of(name).empty(); }

bool is_of_the_harness(std::string_view name) { return is_one_of(name, kOfTutti); }

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
