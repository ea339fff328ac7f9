// SPDX-License-Identifier: Apache-2.0
// `tutti launch -n N -- PROGRAM`: starts N ranks of a program on this host and hosts the rendezvous at which they meet.
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/variables_check.hpp"
#include "launch/process_group.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti::cli {

namespace {

struct LaunchArguments {
  std::string num_ranks;
  std::string bind = "core";
  bool tag = false;
  std::vector<std::string> environment;  // NAME=VALUE
  std::string timeout;
  std::string grace = "2s";
  std::vector<std::string> command;
};

Status read_num_ranks(const std::string& text, int& num_ranks) {
  const Result<std::int64_t> number = parse_integer(text);
  if (!number.ok() || *number < 1 || *number > kMostRanksOnHost) {
    return wrong_argument(
        fmt::format("-n is {}; it takes a number of ranks from 1 to {}", in_quotes(text), kMostRanksOnHost));
  }
  num_ranks = static_cast<int>(*number);
  return {};
}

Status read_duration(const char* option, const std::string& text, Nanos& duration) {
  const Result<Nanos> parsed = parse_duration(text);
  if (!parsed.ok()) return parsed.status().with_context(fmt::format("{} is {}", option, in_quotes(text)));
  duration = *parsed;
  return {};
}

Status read_environment(const std::vector<std::string>& pairs, Environment& environment,
                        std::vector<std::string>& warnings) {
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return wrong_argument(fmt::format("--env is {}; it takes NAME=VALUE", in_quotes(pair)));
    }
    TUTTI_TRY(check_given_variable("--env", pair.substr(0, equals), pair.substr(equals + 1), warnings));
    environment.set(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return {};
}

Status read(const LaunchArguments& options, launch::GroupOptions& group, std::vector<std::string>& warnings) {
  TUTTI_TRY(read_num_ranks(options.num_ranks, group.num_ranks));
  if (options.bind != "core" && options.bind != "none") {
    return wrong_argument(fmt::format("--bind is {}; it takes core or none", in_quotes(options.bind)));
  }
  group.bind_to_cores = options.bind == "core";
  group.tag = options.tag;
  if (!options.timeout.empty()) TUTTI_TRY(read_duration("--timeout", options.timeout, group.timeout));
  TUTTI_TRY(read_duration("--grace", options.grace, group.grace));
  TUTTI_TRY(read_environment(options.environment, group.environment, warnings));
  if (options.command.empty()) {
    return wrong_argument("there is no program to run; it comes after the options: tutti launch -n 2 -- PROGRAM");
  }
  group.command = options.command;
  return {};
}

Exit run(const LaunchArguments& options, const Context& context) {
  launch::GroupOptions group;
  group.environment = context.environment;
  std::vector<std::string> warnings;
  const Status understood = read(options, group, warnings);
  for (const std::string& warning : warnings) context.error << "tutti launch: " << warning << "\n";
  if (!understood.ok()) return failed(context, "launch", understood);
  const Result<int> code = launch::run_group(group, context.out, context.error);
  if (!code.ok()) return failed(context, "launch", code.status());
  // The ranks' own status is passed on, as from env or timeout; Exit has room for it.
  return static_cast<Exit>(*code);
}

Run define_launch(CLI::App& app) {
  const auto options = std::make_shared<LaunchArguments>();  // shared with the closure, which std::function copies
  app.add_option("-n,--num-ranks", options->num_ranks, "How many ranks to start")->type_name("N")->required();
  app.add_option("--bind", options->bind, "core: rank r on the core r, round and round; none: wherever")
      ->type_name("core|none")
      ->capture_default_str();
  app.add_flag("--tag", options->tag, "Put the rank in front of each line of output");
  // One value each, so that it swallows neither the program nor the -- before it.
  app.add_option("--env", options->environment, "Set a variable for the ranks; may be repeated")
      ->type_name("VARIABLE=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--timeout", options->timeout, "End all ranks after this time (exit status 124)")->type_name("TIME");
  app.add_option("--grace", options->grace,
                 "Time from the failure of a rank to SIGTERM for the others, and from there to SIGKILL; a SIGTERM or "
                 "SIGHUP to the launcher is passed on, and SIGKILL follows after this time")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("program", options->command, "What to run, with its arguments; -- in front keeps its options its own")
      ->type_name("PROGRAM [ARGUMENTS]");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command launch_command() {
  return {.name = "launch",
          .summary = "Start N ranks of a program on this host; end all if one fails, and return its exit status",
          .examples =
              "tutti launch -n 2 -- ./program\n"
              "tutti launch -n 4 --tag --env TUTTI_DEBUG=info -- ./program --its-own options\n"
              "tutti launch -n 8 --bind none --timeout 5m -- python3 train.py",
          .define = define_launch};
}

}  // namespace tutti::cli
