// SPDX-License-Identifier: Apache-2.0
// The variables through which launchers tell a process its rank. Those that the runner has inherited belong to another
// group, so none of its processes may see them. Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"

namespace tutti::harness {

// The variable that makes a process a worker: an id (base/unique_id.hpp), where the runner listens and the token.
inline constexpr std::string_view kWorkerVariable = "BENCH_WORKER";
// Holds the id in the environment of programs that are no workers.
inline constexpr std::string_view kProgramVariable = "BENCH_PROGRAM";
// Who has started the process, and so whose variables count: the name of a Launcher.
inline constexpr std::string_view kLauncherVariable = "BENCH_LAUNCHER";
// What that variable holds where ranks on several hosts come through `tutti launch`.
inline constexpr std::string_view kLaunchOverHosts = "tutti";
// The rank that the local launcher gives; other launchers have variables of their own.
inline constexpr std::string_view kRankVariable = "BENCH_RANK";
inline constexpr std::string_view kNumRanksVariable = "BENCH_NUM_RANKS";
// Where ranks that were started locally may meet, as torchrun tells it.
inline constexpr std::string_view kMasterAddressVariable = "MASTER_ADDR";
inline constexpr std::string_view kMasterPortVariable = "MASTER_PORT";

struct WorldRank {
  int rank = 0;
  int num_ranks = 1;
};
// As the process's launcher has told; an error names the variables that would.
[[nodiscard]] Result<WorldRank> world_rank_in(const Environment& environment);

// Whether a variable tells a process of its own group or launcher, and so nothing to one of another group. What
// launchers read themselves (an allocation of Slurm's, settings of an MPI's) is none of these.
[[nodiscard]] bool is_of_a_launch(std::string_view name);
// Who sets such a variable, in words: "Tutti", "srun"; empty where it is none.
[[nodiscard]] std::string_view teller_of(std::string_view name);
// Of those, the harness's own.
[[nodiscard]] bool is_of_the_harness(std::string_view name);
// Whether the environment is that of a rank, as against a launcher. Of processes that were started without variables of
// another launch.
[[nodiscard]] bool has_rank(const std::vector<std::string_view>& entries);

// Sets NAME=VALUE in a block, in the place of every entry of that name.
void set_variable(std::vector<std::string>& block, std::string_view name, std::string_view value);

}  // namespace tutti::harness
