// SPDX-License-Identifier: Apache-2.0
// How the options of `tutti run` and `tutti compare` that say what is measured are written, and their help.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/axes/declaration.hpp"
#include "cli/bench/sweep/sweep_options.hpp"
#include "cli/parse_misuse.hpp"

namespace tutti::cli {

namespace {

CLI::Option* repeated(CLI::Option* option) { return option->expected(1)->take_all()->allow_extra_args(false); }

// "2", where all benches begin with that.
std::string usual_ranks(const BenchWorld& world) {
  std::string usual;
  for (const Bench& bench : world.benches) {
    const std::string ranks = fmt::format("{}", fmt::join(bench.declaration().num_ranks, ","));
    if (!usual.empty() && ranks != usual) return "the bench's own";
    usual = ranks;
  }
  return usual.empty() ? "1" : usual;
}

void add_what(CLI::App& app, SweepOptions& options, const BenchWorld& world) {
  begin_group(app, "What is measured");
  const std::string first = world.benches.size() == 1 ? world.benches[0].declaration().name : "all_reduce";
  not_empty(app.add_option("--bench", options.bench, fmt::format("A bench; 'tutti list benches' has all [{}]", first)))
      ->type_name("BENCH");
  not_empty(app.add_option("--peer", options.peers,
                           fmt::format("Who does it: names with commas between, or all that are here; "
                                       "simulate:FABRIC does it in virtual time [{}]",
                                       world.default_peers)))
      ->type_name("PEERS");
  repeated(app.add_option("-a,--axis", options.axes,
                          "Values of an axis: num_ranks=2,4, bytes=8:64M:x4, algorithm=all, PEER:NAME=…"))
      ->type_name("AXIS=VALUES");
  const auto add_axis = [&](const char* names, const char* axis, const std::string& help) {
    not_empty(
        app.add_option_function<std::string>(
            names,
            [&options, axis](const std::string& values) { options.axes.push_back(fmt::format("{}={}", axis, values)); },
            help))
        ->type_name("LIST");
  };
  add_axis("-n,--num-ranks", "num_ranks",
           fmt::format("How many ranks: short for -a num_ranks=LIST [{}]", usual_ranks(world)));
  add_axis("--bytes", "bytes", "Sizes, such as 8:64M:x4: short for -a bytes=LIST");
  not_empty(app.add_option("-b", options.least_bytes, "The least size, as nccl-tests' -b: with -e, -a bytes=B:E:xF"))
      ->type_name("BYTES");
  not_empty(app.add_option("-e", options.most_bytes, "The greatest size, which is one of them"))->type_name("BYTES");
  not_empty(app.add_option("-f", options.factor, "From -b to -e each size is so many times the one before [2]"))
      ->type_name("F");
  repeated(app.add_option("--skip", options.skips, "Leaves out these values of an axis"))->type_name("AXIS=VALUES");
  repeated(app.add_option("--env", options.env, "Values of a variable; each starts processes of its own. unset is one"))
      ->type_name("VARIABLE=VALUES");
  repeated(app.add_option("--env-zip", options.env_zip, "Variables that change together: A,B=[[1,2],[3,4]]"))
      ->type_name("NAMES=ROWS");
  not_empty(app.add_option("--sweep", options.file, "A TOML file that says all this (docs/formats/sweep.md)"))
      ->type_name("FILE");
  app.add_flag("--dry-run", options.dry_run, "Shows groups and cases, and starts nothing");
}

void add_how(CLI::App& app, SweepOptions& options) {
  begin_group(app, "How it is measured");
  const auto add = [&](const char* name, std::string& value, const char* help, const char* type) {
    not_empty(app.add_option(name, value, help))->type_name(type);
  };
  add("--budget", options.budget, "The most time for measuring a case [1s]", "TIME");
  add("--precision", options.precision, "Enough when the median is known this well [2%]", "SHARE");
  add("--least-samples", options.least_samples, "But so many at least [20]", "N");
  add("--launches", options.launches, "Starts every group N times; verdicts need 6 or more [1; to compare: 8]", "N");
  add("--sync", options.sync,
      "How iterations begin: round (an agreed instant), meeting (as soon as all are there) or barrier (the library's "
      "own, as OSU's do) [round; meeting where ranks share cores]",
      "round|meeting|barrier");
  add("--launcher", options.launcher, "Who starts the ranks [each peer's own launcher]",
      "local|mpirun.openmpi|mpirun.mpich|srun");
  add("--bind", options.bind,
      "core: each rank has a core of its own, or rank r core r modulo their number where there are fewer; none: "
      "wherever the system puts it [core]",
      "core|none");
  add("--timeout", options.timeout, "Ends a case whose answer takes longer than this [60s; a program: 10m]", "TIME");
  add("--start-timeout", options.start_timeout, "Ends processes that take longer than this to start [60s]", "TIME");
  add("--seed", options.seed, "Of the order of rounds [1]", "N");
  app.add_flag("--no-check", options.no_check, "Does not look at results");
}

}  // namespace

void begin_group(CLI::App& app, const char* heading) { app.option_defaults()->group(heading); }

void add_sweep_options(CLI::App& app, SweepOptions& options, const BenchWorld& world) {
  add_what(app, options, world);
  if (world.place_on_hosts) {
    begin_group(app, "On several hosts");
    add_host_words(app, options.hosts);
  }
  add_how(app, options);
  begin_group(app, "What is kept and shown");
  repeated(
      app.add_option("--align", options.align, "Knobs of different peers as one column: cus=nccl:MAX_CTAS,mine:sms"))
      ->type_name("COLUMN=KNOBS");
}

}  // namespace tutti::cli
