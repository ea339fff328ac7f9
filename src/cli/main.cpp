// SPDX-License-Identifier: Apache-2.0
// The program `tutti`: the table of its commands, and the process's own environment and streams.
#include <array>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/system/memory_limits.hpp"
#include "base/variables/environment.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/bench/peer_world.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/milestone/milestone.hpp"
#include "cli/program.hpp"
#include "cli/report/report_commands.hpp"
#include "cli/shell/shell_commands.hpp"
#include "cli/terminal.hpp"
#include "cli/tune/tune_commands.hpp"
#include "cli/web/web_commands.hpp"

int main(int argc, char** argv) try {
  namespace cli = tutti::cli;
  cli::let_too_large_files_fail();
  const tutti::Environment environment = tutti::Environment::of_this_process();
  cli::BenchWorld world = cli::peer_world(environment);
  world.milestones = cli::milestone_benches();
  std::array<cli::Command, 25> commands;
  const std::span<const cli::Command> all(commands);  // for the commands that describe all
  commands = {
      cli::algorithms_command(), cli::compare_command(world), cli::completion_command(all, world),
      cli::delete_command(),     cli::demo_command(),         cli::export_command(world),
      cli::fabric_command(),     cli::gemm_command(),         cli::import_command(),
      cli::label_command(),      cli::launch_command(),       cli::list_command(world),
      cli::man_command(all),     cli::probe_command(),        cli::prove_command(),
      cli::record_command(),     cli::regret_command(),       cli::report_command(world),
      cli::run_command(world),   cli::schedule_command(),     cli::show_command(world),
      cli::simulate_command(),   cli::tune_command(world),    cli::variables_command(),
      cli::web_command(world),
  };
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  cli::Context context{environment, std::cout, std::cerr, arguments};
  context.out_style = cli::style_of_standard_output(environment);
  return static_cast<int>(cli::run_program(commands, arguments, context));
} catch (const std::bad_alloc&) {
  std::fprintf(stderr, "tutti: there is not enough memory for this%s\n", tutti::memory_ulimits_text().c_str());
  return static_cast<int>(tutti::cli::Exit::not_done);
} catch (const std::exception& error) {
  std::fprintf(stderr, "tutti: bug: %s\n", error.what());
  return static_cast<int>(tutti::cli::Exit::not_done);
}
