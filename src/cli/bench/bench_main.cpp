// SPDX-License-Identifier: Apache-2.0
// bench_main(): the command line of a program that declares its own benchmarks, and its workers.
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>

#include "base/variables/environment.hpp"
#include "bench/process/worker.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/program.hpp"
#include "cli/terminal.hpp"
#include <tutti/bench.hpp>

namespace tutti {

namespace {

constexpr std::string_view kItself = "itself";

// Such a program has one peer: itself.
cli::BenchWorld world_of(std::vector<Bench> benches) {
  cli::BenchWorld world;
  world.benches = std::move(benches);
  world.peers = {{.name = std::string(kItself), .package = ""}};
  world.look_for = [](const std::string&) -> Result<std::string> { return std::string("this program"); };
  world.default_peers = kItself;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  world.program_of = [program = program.string()](std::string_view name) {
    return harness::PeerProgram{.name = std::string(name), .program = {program}, .launcher = harness::Launcher::local};
  };
  return world;
}

}  // namespace

int bench_main(int argc, char** argv, std::vector<Bench> benches) try {
  const Environment environment = Environment::of_this_process();
  if (harness::is_worker(environment)) {
    const std::unique_ptr<harness::Backend> backend = harness::no_backend();
    return harness::run_worker(benches, *backend, environment);
  }
  cli::let_too_large_files_fail();
  const cli::BenchWorld world = world_of(std::move(benches));
  const std::array commands{cli::compare_command(world), cli::delete_command(),   cli::label_command(),
                            cli::list_command(world),    cli::run_command(world), cli::show_command(world)};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "bench";
  cli::Context context{environment, std::cout, std::cerr, arguments, name};
  context.out_style = cli::style_of_standard_output(environment);
  return static_cast<int>(cli::run_program(commands, arguments, context));
} catch (const std::exception& error) {
  std::fprintf(stderr, "bug: %s\n", error.what());
  return static_cast<int>(cli::Exit::not_done);
}

}  // namespace tutti
