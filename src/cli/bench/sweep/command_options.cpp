// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sweep/command_options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "bench/process/command.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

namespace {

using harness::Axis;
using harness::kNumRanksAxis;

struct Word {
  std::string_view option;
  std::string SweepOptions::*value;
};
// Options that do nothing for a program, which measures itself; and those that do nothing for a bench.
constexpr std::array<Word, 8> kOfBenches = {{{"--bench", &SweepOptions::bench},
                                             {"--peer", &SweepOptions::peers},
                                             {"--sync", &SweepOptions::sync},
                                             {"--budget", &SweepOptions::budget},
                                             {"--precision", &SweepOptions::precision},
                                             {"--least-samples", &SweepOptions::least_samples},
                                             {"--start-timeout", &SweepOptions::start_timeout},
                                             {"--bind", &SweepOptions::bind}}};
constexpr std::array<Word, 4> kOfPrograms = {{{"--read", &SweepOptions::read},
                                              {"--time", &SweepOptions::time},
                                              {"--name", &SweepOptions::name},
                                              {"--keep-output", &SweepOptions::keep_output}}};

// What rows say of themselves.
constexpr std::array<std::string_view, 2> kTakenAxes = {"started", "nth"};

// The first whose value is not the usual one.
template <std::size_t kCount>
std::string_view first_given(const std::array<Word, kCount>& words, const SweepOptions& options) {
  static const SweepOptions defaults;
  for (const Word& word : words)
    if (options.*word.value != defaults.*word.value) return word.option;
  return {};
}

// Whether the system would find it. Where the name has a place for an axis that is not known yet.
Status check_program(const std::string& program, const Environment& environment) {
  if (program.empty()) return wrong_argument("the program's name is empty");
  if (!harness::places_in({program}).empty()) return {};
  if (program.find('/') != std::string::npos) {
    if (::access(program.c_str(), X_OK) == 0) return {};
    return Status::from_errno(fmt::format("cannot run {}", in_quotes(program)), errno);
  }
  const std::string path = environment.lookup("PATH").value_or("/bin:/usr/bin");
  for (const std::string_view folder : split(path, ':'))
    if (::access(fmt::format("{}/{}", folder.empty() ? "." : folder, program).c_str(), X_OK) == 0) return {};
  return {Code::system, fmt::format("there is no program {} in PATH; one in this folder is ./{}", in_quotes(program),
                                    printable(program))};
}

Status check_places(const SweepOptions& options, const SweepPlan& plan) {
  const std::vector<std::string> places = harness::places_in(options.command);
  const auto has_place = [&](std::string_view name) {
    return std::find(places.begin(), places.end(), name) != places.end();
  };
  for (const Axis& axis : plan.sweep.axes)
    if (!has_place(axis.name))
      return wrong_argument(
          fmt::format("-a {} has no place in the command; write {{{}}} where its values belong", axis.name, axis.name));
  const bool has_ranks = plan.sweep.num_ranks != std::vector<int>{0};
  const bool is_local = plan.runner.launcher.value_or(harness::Launcher::local) == harness::Launcher::local;
  if (has_ranks && is_local && !has_place(kNumRanksAxis))
    return wrong_argument(
        "-a num_ranks has no place in the command; write {num_ranks} there, or --launcher says who starts them");
  if (!has_ranks && !is_local)
    return wrong_argument(fmt::format("--launcher {} starts ranks; -a num_ranks=2,4 says how many", options.launcher));
  return {};
}

}  // namespace

void add_reading_options(CLI::App& app, std::string& read, std::string& time, std::string& name) {
  app.add_option("--read", read,
                 "How a program's output is read: auto, nccl-tests, osu, imb, json, wall (its wall time), or "
                 "regex:'(?<bytes>…) … (?<time_us>…)' (docs/formats/outputs.md)")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("--time", time, "With --read json: the key of the time and its unit, such as real_time:ns")
      ->type_name("KEY[:UNIT]");
  app.add_option("--name", name, "The name of the peer in a program's rows")->type_name("NAME")->capture_default_str();
}

void add_command_options(CLI::App& app, SweepOptions& options) {
  app.add_option("command", options.command,
                 "Behind --: a program to sweep instead of a bench. {NAME} in it stands for a value of -a NAME=…")
      ->type_name("-- COMMAND");
  add_program_options(app, options);
}

void add_program_options(CLI::App& app, SweepOptions& options) {
  add_reading_options(app, options.read, options.time, options.name);
  app.add_option("--keep-output", options.keep_output,
                 "Keep all output of a program in this folder, one file for each run of it")
      ->type_name("FOLDER");
}

Status check_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  if (!name.empty() && std::all_of(name.begin(), name.end(), is_plain)) return {};
  return wrong_argument(fmt::format("--name is {}; it takes letters, digits, _, - and dots", in_quotes(name)));
}

Status check_no_command(const SweepOptions& options) {
  const std::string_view option = first_given(kOfPrograms, options);
  if (option.empty()) return {};
  return wrong_argument(
      fmt::format("{} is for a program to sweep, and there is none; it comes behind --: tutti run -- PROGRAM", option));
}

Status declare_command(const SweepOptions& options, harness::Sweep& sweep) {
  std::string_view option = first_given(kOfBenches, options);
  if (options.no_check) option = "--no-check";
  if (!option.empty())
    return wrong_argument(fmt::format("{} is for benches; the program behind -- measures itself", option));
  TUTTI_TRY(check_name(options.name));
  sweep.bench = harness::name_of_program(options.command.front());
  sweep.peers = {options.name};
  sweep.num_ranks = {0};
  for (const std::string& text : options.axes) {
    std::string name(trim(std::string_view(text).substr(0, text.find('='))));
    name.erase(0, name.find(':') + 1);
    if (std::find(kTakenAxes.begin(), kTakenAxes.end(), name) != kTakenAxes.end())
      return wrong_argument(fmt::format("-a {} cannot be an axis: rows have a column of that name", name));
    const bool is_known =
        std::any_of(sweep.axes.begin(), sweep.axes.end(), [&](const Axis& axis) { return same_name(axis.name, name); });
    if (!name.empty() && !is_known && !same_name(name, kNumRanksAxis)) sweep.axes.push_back({name, {}, {}});
  }
  return {};
}

Status plan_command(const SweepOptions& options, const Environment& environment, SweepPlan& plan) {
  TUTTI_TRY(check_places(options, plan));
  TUTTI_TRY(check_program(options.command.front(), environment));
  Result<harness::ReadAs> read = harness::parse_read_as(options.read, options.time);
  if (!read.ok()) return read.status();
  const harness::Launcher launcher = plan.runner.launcher.value_or(harness::Launcher::local);
  if (launcher != harness::Launcher::local)
    TUTTI_TRY(check_program(std::string(harness::name_of(launcher)), environment));
  for (const std::string& name : harness::places_in(options.command)) {
    const bool is_axis = std::any_of(plan.sweep.axes.begin(), plan.sweep.axes.end(),
                                     [&](const Axis& axis) { return axis.name == name; });
    const bool is_ranks = name == kNumRanksAxis && plan.sweep.num_ranks != std::vector<int>{0};
    if (!is_axis && !is_ranks)
      plan.warnings.push_back(
          fmt::format("{{{}}} in the command is no axis, and stays as it is; -a {}=… makes it one", name, name));
  }
  plan.command = harness::CommandSweep{.words = options.command,
                                       .read = std::move(*read),
                                       .launcher = launcher,
                                       .limit = plan.runner.limits.answer,
                                       .launches = plan.runner.launches,
                                       .keep_folder = options.keep_output};
  return {};
}

Status make_output_folder(const SweepPlan& plan) {
  if (!plan.command || plan.command->keep_folder.empty()) return {};
  const std::string& path = plan.command->keep_folder;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return {};
  return {Code::system, fmt::format("--keep-output: cannot make the folder {}: {}", in_quotes(path), error.message())};
}

}  // namespace tutti::cli
