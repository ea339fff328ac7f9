// SPDX-License-Identifier: Apache-2.0
// What `--hosts` names, a list or a file of hosts or an allocation of Slurm, and how those are reached. Reads files;
// thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"
#include "cli/host_words.hpp"
#include "launch/host_group.hpp"
#include "launch/hosts.hpp"

namespace tutti::cli {

[[nodiscard]] Result<std::vector<launch::HostRanks>> read_hosts(const HostWords& on, const Environment& environment,
                                                                std::optional<int> num_ranks);

[[nodiscard]] std::string agent_of(const HostWords& on);

// The agent, the address here, Tutti there, and the folder to work in.
[[nodiscard]] Status reach_hosts_by(const HostWords& on, launch::HostsOptions& launched);

// What the ranks of other hosts get besides that host's own variables.
[[nodiscard]] std::vector<Environment::Pair> own_variables(const Environment& environment);

}  // namespace tutti::cli
