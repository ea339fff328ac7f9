// SPDX-License-Identifier: Apache-2.0
// What `--hosts` names, a list or a file of hosts. Reads files; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "launch/hosts.hpp"

namespace tutti::cli {

[[nodiscard]] Result<std::vector<launch::HostRanks>> read_hosts(const std::string& hosts, std::optional<int> num_ranks);

}  // namespace tutti::cli
