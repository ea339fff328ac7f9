// SPDX-License-Identifier: Apache-2.0
// The options that say what is measured, shared by `tutti run` and `tutti compare`: the bench, the peers, axes and
// variables. Values; main thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"
#include "bench/axes/alignment.hpp"
#include "bench/axes/case.hpp"
#include "bench/measure/runner.hpp"
#include "bench/process/command.hpp"
#include "bench/process/command_runner.hpp"
#include "cli/bench/bench_world.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

struct SweepOptions {
  std::string bench;
  std::string peers;
  std::vector<std::string> axes;     // [PEER:]NAME=VALUES
  std::vector<std::string> skips;    // NAME=VALUES
  std::vector<std::string> env;      // [PEER:]NAME=VALUES
  std::vector<std::string> env_zip;  // [PEER:]NAMES=ROWS
  std::vector<std::string> align;    // COLUMN=PEER:NAME,PEER:NAME
  std::string file;                  // TOML
  // Of the axis bytes, as nccl-tests' -b, -e and -f say them; empty where nobody has.
  std::string least_bytes;
  std::string most_bytes;
  std::string factor;
  std::string sync;
  // Empty where nobody has said it.
  std::string budget;
  std::string precision;
  std::string least_samples;
  std::string launches;
  std::string launcher;
  std::string bind = "core";
  HostWords hosts;
  std::string timeout;  // empty: 60s, and 10m for a program
  std::string start_timeout;
  std::string seed;
  bool no_check = false;
  bool dry_run = false;
  bool quick = false;
  // Some program instead of a bench (cli/command_options.hpp).
  std::vector<std::string> command;
  std::string read = "auto";
  std::string time;
  std::string name = std::string(harness::kUnnamedProgram);
  std::string keep_output;
};

// The options must live as long as the application. In groups of the help, of which the last one is still open.
void add_sweep_options(CLI::App& app, SweepOptions& options, const BenchWorld& world);
// All options that follow stand in the help under this heading.
void begin_group(CLI::App& app, const char* heading);

[[nodiscard]] inline bool says_sizes(const SweepOptions& options) {
  return !options.least_bytes.empty() || !options.most_bytes.empty() || !options.factor.empty();
}

// Everything that was asked for, looked up and checked: nothing has been started.
struct SweepPlan {
  harness::Sweep sweep;
  std::vector<harness::Group> groups;
  std::vector<harness::PeerProgram> programs;
  harness::RunnerOptions runner;
  std::vector<harness::Alignment> alignments;    // of what is shown
  std::optional<harness::CommandSweep> command;  // where a program is swept; then there are no `programs`
  std::vector<std::string> warnings;             // a line each

  [[nodiscard]] std::size_t num_cases() const;
  // How long it takes; 0 where nothing is known of it.
  [[nodiscard]] double expected_seconds() const;
  // "3 groups, 42 cases, about 2 min"; "8 runs of all_reduce_perf".
  [[nodiscard]] std::string announcement() const;
};
[[nodiscard]] Result<SweepPlan> make_plan(const SweepOptions& given, const BenchWorld& world,
                                          const Environment& environment);

// The groups and their cases, without running any: what --dry-run shows.
[[nodiscard]] std::string list_of(const SweepPlan& plan);

}  // namespace tutti::cli
