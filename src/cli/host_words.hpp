// SPDX-License-Identifier: Apache-2.0
// The options that put ranks on several hosts, as they were given: of `tutti launch`, and of commands that measure.
// Values; main thread only.
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

struct HostWords {
  std::string hosts;  // empty: this host alone
  std::string agent;  // empty: the usual one
  std::string address;
  std::string tutti;

  // Whether they are the nodes of the Slurm allocation that the command runs in.
  [[nodiscard]] bool are_of_allocation() const { return hosts == "slurm"; }
  // Whether srun reaches them: no agent was given.
  [[nodiscard]] bool are_by_slurm() const { return are_of_allocation() && agent.empty(); }
};

// They must live as long as the application.
void add_host_words(CLI::App& app, HostWords& hosts);

}  // namespace tutti::cli
