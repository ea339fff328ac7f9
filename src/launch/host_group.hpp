// SPDX-License-Identifier: Apache-2.0
// The ranks of `tutti launch --hosts`: a remote launcher on each host (remote_ranks.hpp), started by an agent, and the
// rendezvous at which the ranks meet. Ranks are started, watched and ended as those of process_group.hpp are, and the
// same holds for threads and signals. Secrets go through the agents' standard input; no command line has them.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "launch/agent.hpp"
#include "launch/hosts.hpp"
#include "launch/process_group.hpp"

namespace tutti::launch {

struct HostsOptions {
  GroupOptions group;  // num_ranks is not used; the environment is that of the agents
  std::vector<HostRanks> hosts;
  std::string agent{kDefaultAgent};
  std::string tutti;                         // the path of this program on other hosts
  std::string_view version;                  // of this program
  std::string folder;                        // to work in, on every host
  std::optional<Address> address{};          // of the rendezvous; nothing: towards the other hosts
  std::vector<Environment::Pair> variables;  // set on every host
};

inline constexpr int kHostLost = 1;  // the exit code where a host could not be reached, or was lost

// The exit code of the whole, as run_group has it, or kHostLost.
[[nodiscard]] Result<int> run_on_hosts(const HostsOptions& options, std::ostream& out, std::ostream& error);

}  // namespace tutti::launch
