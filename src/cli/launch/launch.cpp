// SPDX-License-Identifier: Apache-2.0
// `tutti launch -n N -- PROGRAM`: starts N ranks of a program, on this host or on several, and serves the rendezvous at
// which they meet.
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/host_words.hpp"
#include "cli/launch/read_hosts.hpp"
#include "cli/variables_check.hpp"
#include "launch/host_group.hpp"
#include "launch/hosts.hpp"
#include "launch/process_group.hpp"
#include "launch/reach.hpp"
#include "launch/remote_ranks.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti::cli {

namespace {

struct LaunchArguments {
  std::string num_ranks;
  HostWords on;
  bool remote = false;
  std::string bind = "core";
  bool tag = false;
  std::vector<std::string> environment;  // NAME=VALUE
  std::string timeout;
  std::string grace = "2s";
  std::vector<std::string> command;
};

Status read_num_ranks(const std::string& text, int most, int& num_ranks) {
  const Result<std::int64_t> number = parse_integer(text);
  if (!number.ok() || *number < 1 || *number > most)
    return wrong_argument(fmt::format("-n is {}; it takes a number of ranks from 1 to {}", in_quotes(text), most));
  num_ranks = static_cast<int>(*number);
  return {};
}

Status read_duration(const char* option, const std::string& text, Nanos& duration) {
  const Result<Nanos> parsed = parse_duration(text);
  if (!parsed.ok()) return parsed.status().with_context(fmt::format("{} is {}", option, in_quotes(text)));
  duration = *parsed;
  return {};
}

// NAME=VALUE, or NAME alone, which hands on what this process has: so a secret stands in no command line.
Status read_environment(const std::vector<std::string>& texts, const Environment& own,
                        std::vector<Environment::Pair>& variables, std::vector<std::string>& warnings) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || text.empty()) {
      return wrong_argument(
          fmt::format("--env is {}; it takes NAME=VALUE, or the NAME of a variable that is set", in_quotes(text)));
    }
    const std::string name = text.substr(0, equals);
    const std::optional<std::string> value =
        equals == std::string::npos ? own.lookup(name) : std::optional(text.substr(equals + 1));
    if (!value) {
      return wrong_argument(fmt::format("--env is {}, which is not set here; NAME=VALUE sets it", in_quotes(text)));
    }
    variables.emplace_back(name, *value);
    TUTTI_TRY(check_given_variable("--env", name, *value, warnings));
  }
  return {};
}

Status place_ranks(const LaunchArguments& options, const Environment& environment,
                   std::vector<launch::HostRanks>& hosts) {
  std::optional<int> num_ranks;
  if (!options.num_ranks.empty()) TUTTI_TRY(read_num_ranks(options.num_ranks, kMostRanks, num_ranks.emplace()));
  TUTTI_TRY_ASSIGN(hosts, read_hosts(options.on, environment, num_ranks));
  return {};
}

Status read(const LaunchArguments& options, launch::HostsOptions& launched, std::vector<std::string>& warnings) {
  launch::GroupOptions& group = launched.group;
  if (!options.on.hosts.empty()) {
    TUTTI_TRY(place_ranks(options, group.environment, launched.hosts));
  } else if (options.num_ranks.empty()) {
    return wrong_argument("-n, the number of ranks, is missing; or --hosts, where ranks are to run");
  } else {
    TUTTI_TRY(read_num_ranks(options.num_ranks, kMostRanksOnHost, group.num_ranks));
  }
  if (options.bind != "core" && options.bind != "none") {
    return wrong_argument(fmt::format("--bind is {}; it takes core or none", in_quotes(options.bind)));
  }
  group.bind_to_cores = options.bind == "core";
  group.tag = options.tag;
  if (!options.timeout.empty()) TUTTI_TRY(read_duration("--timeout", options.timeout, group.timeout));
  TUTTI_TRY(read_duration("--grace", options.grace, group.grace));
  launched.variables = own_variables(group.environment);
  TUTTI_TRY(read_environment(options.environment, group.environment, launched.variables, warnings));
  if (!options.on.hosts.empty()) TUTTI_TRY(reach_hosts_by(options.on, launched));
  if (options.command.empty()) {
    return wrong_argument("there is no program to run; it comes after the options: tutti launch -n 2 -- PROGRAM");
  }
  group.command = options.command;
  return {};
}

Exit run(const LaunchArguments& options, const Context& context) {
  if (options.remote) {
    const Status served = launch::serve_launcher(context.environment, TUTTI_VERSION);
    return served.ok() ? Exit::done : failed(context, "launch --remote", served);
  }
  launch::HostsOptions launched;
  launched.group.environment = context.environment;
  std::vector<std::string> warnings;
  const Status understood = read(options, launched, warnings);
  for (const std::string& warning : warnings) context.error << "tutti launch: " << warning << "\n";
  if (!understood.ok()) return failed(context, "launch", understood);
  const bool is_here = launched.hosts.empty();
  if (is_here) {
    for (const auto& [name, value] : launched.variables) launched.group.environment.set(name, value);
  }
  const Result<int> code = is_here ? launch::run_group(launched.group, context.out, context.error)
                                   : launch::run_on_hosts(launched, context.out, context.error);
  if (!code.ok()) return failed(context, "launch", code.status());
  // The ranks' own status is passed on, as from env or timeout; Exit has room for it.
  return static_cast<Exit>(*code);
}

Run define_launch(CLI::App& app) {
  const auto options = std::make_shared<LaunchArguments>();  // shared with the closure, which std::function copies
  app.add_option("-n,--num-ranks", options->num_ranks, "How many ranks to start")->type_name("N");
  add_host_words(app, options->on);
  app.add_flag("--remote", options->remote)->group("");
  app.add_option("--bind", options->bind, "core: rank r on the core r, round and round; none: wherever")
      ->type_name("core|none")
      ->capture_default_str();
  app.add_flag("--tag", options->tag, "Put the rank in front of each line of output");
  // One value each, so that it swallows neither the program nor the -- before it.
  app.add_option("--env", options->environment,
                 "Set a variable for the ranks, or hand on one of this process; may be repeated")
      ->type_name("VARIABLE[=VALUE]")
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
          .summary =
              "Start N ranks of a program, here or on several hosts; end all if one fails, and return its exit "
              "status",
          .examples =
              "tutti launch -n 2 -- ./program\n"
              "tutti launch -n 4 --tag --env TUTTI_DEBUG=info -- ./program --its-own options\n"
              "tutti launch -n 8 --bind none --timeout 5m -- python3 train.py\n"
              "tutti launch --hosts node1:4,node2:4 -- ./program\n"
              "tutti launch --hosts @hosts.txt --agent 'ip netns exec {host}' -- ./program\n"
              "salloc -N 2 -n 8 tutti launch --hosts slurm -- ./program",
          .define = define_launch};
}

}  // namespace tutti::cli
