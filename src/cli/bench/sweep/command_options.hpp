// SPDX-License-Identifier: Apache-2.0
// The options of `tutti run -- COMMAND`, and what they make of a sweep: axes that stand in the command, a program that
// is there, a way to read what it prints. Main thread only.
#pragma once

#include "base/status.hpp"
#include "base/variables/environment.hpp"
#include "cli/bench/sweep/sweep_options.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

// The options must live as long as the application.
void add_command_options(CLI::App& app, SweepOptions& options);
// The same without the command itself.
void add_program_options(CLI::App& app, SweepOptions& options);
// Those of them that say how outputs are read.
void add_reading_options(CLI::App& app, std::string& read, std::string& time, std::string& name);

// Whether nothing is asked for that only a program can do.
[[nodiscard]] Status check_no_command(const SweepOptions& options);
// The bench is the program, the peer is its --name, and the axes are those that -a names, without values as yet. An
// error where something is asked for that only a bench can do.
[[nodiscard]] Status declare_command(const SweepOptions& options, harness::Sweep& sweep);
// The rest, with the sweep as the options say it.
[[nodiscard]] Status plan_command(const SweepOptions& options, const Environment& environment, SweepPlan& plan);

// The folder of --keep-output, where the plan has one.
[[nodiscard]] Status make_output_folder(const SweepPlan& plan);

// Whether it can name a peer: letters, digits, _, - and the dot.
[[nodiscard]] Status check_name(const std::string& name);

}  // namespace tutti::cli
