// SPDX-License-Identifier: Apache-2.0
// `tutti tune --env … -- COMMAND`: the best environment of any program. Main thread only.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/bench_world.hpp"
#include "cli/bench/sweep/sweep_options.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

struct ProgramOptions {
  SweepOptions sweep;  // --env, --env-zip, -a, --skip, --launcher, --timeout, how its output is read, the command
  std::string rounds;  // --launches
  std::string budget;  // empty: as many rounds as there may be
  std::string output;  // the shell file; empty: NAME.env.sh
  std::string store;
  bool no_store = false;
};
// The options must live as long as the application.
void add_program_tuning_options(CLI::App& app, ProgramOptions& options);

[[nodiscard]] Exit tune_program(const ProgramOptions& options, const BenchWorld& world, const OutputOptions& output,
                                const Context& context);

}  // namespace tutti::cli
