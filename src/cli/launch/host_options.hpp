// SPDX-License-Identifier: Apache-2.0
// The options that put ranks on several hosts, shared by `tutti launch` and by the commands that measure. Values; main
// thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "launch/agent.hpp"
#include "launch/hosts.hpp"

namespace tutti::cli {

struct HostOptions {
  std::string hosts;  // empty: this host alone
  std::string agent{launch::kDefaultAgent};
  std::string address;
  std::string tutti;
};

// Of these hosts, or of the file that they name.
[[nodiscard]] Result<std::vector<launch::HostRanks>> read_hosts(const std::string& hosts, std::optional<int> num_ranks);

}  // namespace tutti::cli
