// SPDX-License-Identifier: Apache-2.0
// The hosts of a Slurm allocation, as its variables say: what `--hosts slurm` stands for. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"

namespace tutti::launch {

// One task in a step that may overlap others. It may use the whole node, and binds its children itself. Unbuffered:
// otherwise srun would hold back incomplete lines.
// The variables, which sbatch and salloc may have set, would restrict the task or change what it writes.
inline constexpr std::string_view kSlurmAgent =
    "env -u SRUN_CPUS_PER_TASK -u SLURM_CPUS_PER_TASK -u SLURM_EXACT -u SLURM_GPUS_PER_TASK -u SLURM_LABELIO "
    "-u SLURM_STDINMODE -u SLURM_STDOUTMODE "
    "srun --overlap --nodes=1 --ntasks=1 --nodelist={host} --mpi=none --cpu-bind=none --unbuffered --quiet";

// "a:2,b:2", as --hosts takes it: a place for each task. Without SLURM_TASKS_PER_NODE, only hosts: "a,b".
[[nodiscard]] Result<std::string> hosts_of_allocation(const Environment& environment);

// The nodes of "login,node[01-03,7]-ib[0-1]", in this order.
[[nodiscard]] Result<std::vector<std::string>> nodes_of_list(std::string_view list);

}  // namespace tutti::launch
