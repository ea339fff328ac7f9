// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sweep/host_placement.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/hosts/ranks_on_hosts.hpp"

namespace tutti::cli {

namespace {

// MPICH's mpirun takes the path of a program, and nothing else.
Status check_agent(const SweepPlan& plan, const std::string& agent) {
  for (const harness::PeerProgram& program : plan.programs) {
    const bool is_mpich = plan.runner.launcher.value_or(program.launcher) == harness::Launcher::mpich;
    if (is_mpich && program.reckoner == nullptr && agent.find(' ') != std::string::npos && !agent.starts_with("ssh "))
      return wrong_argument(
          fmt::format("--agent is {}; for peer {} it is a program alone, since MPICH's mpirun hands "
                      "it no other arguments than those of ssh",
                      in_quotes(agent), program.name));
  }
  return {};
}

}  // namespace

Status place_on_hosts(const SweepOptions& options, const BenchWorld& world, bool has_num_ranks, SweepPlan& plan) {
  if (options.hosts.hosts.empty()) return {};
  if (plan.programs.empty()) return wrong_argument("--hosts has no effect on a program: it is for benches");
  if (plan.runner.launcher == harness::Launcher::srun)
    return wrong_argument("--hosts and --launcher srun exclude each other: Slurm places the ranks");
  TUTTI_TRY(check_agent(plan, options.hosts.agent));
  const std::vector<int> counts = has_num_ranks ? plan.sweep.num_ranks : std::vector<int>();
  TUTTI_TRY_ASSIGN(plan.runner.hosts, world.place_on_hosts(options.hosts, counts));
  if (!has_num_ranks) {
    plan.sweep.num_ranks.clear();
    for (const auto& [num_ranks, hosts] : plan.runner.hosts) plan.sweep.num_ranks.push_back(num_ranks);
  }
  return {};
}

void show_hosts(SweepPlan& plan) {
  for (harness::Group& group : plan.groups) {
    const std::optional<harness::OverHosts> hosts = harness::hosts_of(plan.runner.hosts, group.num_ranks);
    if (!hosts) continue;
    const std::string text = harness::placement_text(hosts->entries);
    for (harness::Case& each : group.cases)
      each.point.values.insert(each.point.values.begin(), {std::string(harness::kHostsAxis), harness::Value(text)});
  }
}

}  // namespace tutti::cli
