// SPDX-License-Identifier: Apache-2.0
#include "cli/launch/read_hosts.hpp"

#include <cstdint>

#include "base/system/file.hpp"

namespace tutti::cli {

Result<std::vector<launch::HostRanks>> read_hosts(const std::string& hosts, std::optional<int> num_ranks) {
  constexpr std::uint64_t kMostHostsFile = 1 << 20;
  if (!hosts.starts_with('@')) return launch::place_ranks(hosts, num_ranks);
  const std::string path = hosts.substr(1);
  TUTTI_TRY_ASSIGN(const std::string text, read_file(path, kMostHostsFile));
  return launch::place_ranks_of_file(text, path, num_ranks);
}

}  // namespace tutti::cli
