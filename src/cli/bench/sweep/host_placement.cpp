// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sweep/host_placement.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/hosts/ranks_on_hosts.hpp"

namespace tutti::cli {

namespace {

// What the launcher of each peer can do with the hosts.
Status check_hosts(const SweepPlan& plan, const HostWords& words) {
  for (const harness::PeerProgram& program : plan.programs) {
    if (program.reckoner != nullptr) continue;
    const harness::Launcher launcher = plan.runner.launcher.value_or(program.launcher);
    if (launcher == harness::Launcher::local) continue;
    if (launcher == harness::Launcher::srun)
      return wrong_argument(
          "--hosts and --launcher srun exclude each other: Slurm places the ranks; use "
          "--hosts slurm without --launcher");
    if (program.name == "tutti")
      return wrong_argument("on several hosts peer tutti is started by 'tutti launch'; leave out --launcher");
    if (words.hosts.find('[') != std::string::npos)
      return wrong_argument(
          fmt::format("{} takes no IPv6 address for a host; a name of it will do", name_of(launcher)));
    if (launcher == harness::Launcher::mpich && words.agent.find(' ') != std::string::npos)
      return wrong_argument(fmt::format(
          "--agent is {}; for peer {} it is a program alone, to which MPICH's mpirun hands host and command",
          in_quotes(words.agent), program.name));
  }
  return {};
}

}  // namespace

Status place_on_hosts(const SweepOptions& options, const BenchWorld& world, bool has_num_ranks, SweepPlan& plan) {
  if (options.hosts.hosts.empty()) return {};
  if (plan.programs.empty()) return wrong_argument("--hosts has no effect on a program: it is for benches");
  TUTTI_TRY(check_hosts(plan, options.hosts));
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
