// SPDX-License-Identifier: Apache-2.0
#include "cli/launch/read_hosts.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "base/system/file.hpp"
#include "base/variables/variables.hpp"
#include "launch/agent.hpp"
#include "launch/reach.hpp"
#include "launch/slurm/allocation.hpp"

namespace tutti::cli {

Result<std::vector<launch::HostRanks>> read_hosts(const HostWords& on, const Environment& environment,
                                                  std::optional<int> num_ranks) {
  constexpr std::uint64_t kMostHostsFile = 1 << 20;
  if (on.are_of_allocation()) {
    const Result<std::string> hosts = launch::hosts_of_allocation(environment);
    if (!hosts.ok()) return hosts.status().with_context("--hosts slurm");
    return launch::place_ranks(*hosts, num_ranks);
  }
  if (!on.hosts.starts_with('@')) return launch::place_ranks(on.hosts, num_ranks);
  const std::string path = on.hosts.substr(1);
  TUTTI_TRY_ASSIGN(const std::string text, read_file(path, kMostHostsFile));
  return launch::place_ranks_of_file(text, path, num_ranks);
}

std::string agent_of(const HostWords& on) {
  if (!on.agent.empty()) return on.agent;
  return std::string(on.are_by_slurm() ? launch::kSlurmAgent : launch::kDefaultAgent);
}

Status reach_hosts_by(const HostWords& on, launch::HostsOptions& launched) {
  std::error_code unreadable;
  if (!on.address.empty()) {
    TUTTI_TRY_ASSIGN(launched.address, launch::parse_address(on.address));
  }
  launched.agent = agent_of(on);
  launched.version = TUTTI_VERSION;
  launched.folder = std::filesystem::current_path(unreadable).string();
  if (unreadable) return Status::from_errno("cannot tell the folder to work in", unreadable.value());
  launched.tutti = on.tutti.empty() ? std::filesystem::read_symlink("/proc/self/exe", unreadable).string() : on.tutti;
  if (unreadable) return Status::from_errno("cannot read /proc/self/exe; --tutti takes the path", unreadable.value());
  return {};
}

std::vector<Environment::Pair> own_variables(const Environment& environment) {
  std::vector<Environment::Pair> variables;
  for (const std::string& name : environment.names()) {
    // Some have other names as well, such as those of NCCL.
    if (name.starts_with("TUTTI_") || find_variable(name) != nullptr)
      variables.emplace_back(name, environment.lookup(name).value_or(""));
  }
  return variables;
}

}  // namespace tutti::cli
