// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/hosts_world.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "cli/launch/read_hosts.hpp"
#include "launch/reach.hpp"

namespace tutti::cli {

namespace {

Result<Address> address_of(const HostWords& words, const std::vector<launch::HostRanks>& placed) {
  if (!words.address.empty()) {
    TUTTI_TRY_ASSIGN(Address address, launch::parse_address(words.address));
    if (address.port != 0)
      return wrong_argument("--address has a port; ranks are started many times, each time at a free one");
    return address;
  }
  std::vector<std::string> others;
  for (const launch::HostRanks& each : placed)
    if (!each.is_this_host()) others.push_back(each.host);
  if (others.empty()) return Address{.bytes = {127, 0, 0, 1}};
  return launch::address_towards(others);
}

}  // namespace

Result<std::map<int, harness::OverHosts>> place_on_hosts(const HostWords& words, const std::vector<int>& num_ranks,
                                                         const Environment& environment) {
  std::vector<std::optional<int>> counts(num_ranks.begin(), num_ranks.end());
  if (counts.empty()) counts.emplace_back();
  harness::OverHosts hosts;
  hosts.agent = agent_of(words);
  hosts.by_slurm = words.are_by_slurm();
  hosts.tutti = words.tutti;
  hosts.address_given = words.address;
  std::error_code unreadable;
  hosts.launcher = std::filesystem::read_symlink("/proc/self/exe", unreadable).string();
  if (unreadable) return Status::from_errno("cannot read /proc/self/exe, which is to start ranks", unreadable.value());
  TUTTI_TRY_ASSIGN(const std::vector<launch::HostRanks> all, read_hosts(words, environment, std::nullopt));
  TUTTI_TRY_ASSIGN(hosts.address, address_of(words, all));
  std::map<int, harness::OverHosts> placed;
  for (const std::optional<int>& count : counts) {
    TUTTI_TRY_ASSIGN(const std::vector<launch::HostRanks> ranks, read_hosts(words, environment, count));
    hosts.entries.clear();
    for (const launch::HostRanks& each : ranks)
      if (each.ranks.count > 0) hosts.entries.push_back({each.host, each.ranks.count});
    placed[ranks.front().ranks.total] = hosts;
  }
  return placed;
}

}  // namespace tutti::cli
