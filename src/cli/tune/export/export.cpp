// SPDX-License-Identifier: Apache-2.0
// `tutti export`: a decision table of another library as the file that this library reads.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "bench/process/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/tune/export/export_formats.hpp"
#include "cli/tune/export/export_verify.hpp"
#include "cli/tune/export/profile_export.hpp"
#include "cli/tune/tune_commands.hpp"
#include "runtime/selection/profile_file.hpp"
#include "table/table_file.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kProfile = "profile";

struct ExportArguments {
  std::string name;  // of a profile
  ExportChoice choice;
  std::string table;
  OutputOptions output;
  bool is_strict = false;
  bool is_verified = false;
  VerifyOptions verify;
};

Result<DecisionTable> table_at(const std::string& path) {
  TUTTI_TRY_ASSIGN(const std::string text, read_file(path, kMostTableBytes));
  return read_table(text, path);
}

// The line that a user's shell has to have.
std::string line_to_set(const tune::Exported& exported, const std::string& path) {
  std::string line = "export";
  const auto add = [&](const std::string& name, const std::string& word) { line += fmt::format(" {}={}", name, word); };
  for (const auto& [name, value] : exported.variables) add(name, harness::in_shell({value}));
  std::error_code error;
  const std::string full = path.empty() ? "FILE" : std::filesystem::absolute(path, error).string();
  if (exported.is_file) {
    add(exported.file_variable, harness::in_shell({full}));
  } else if (path.empty()) {
    add(exported.file_variable, harness::in_shell({std::string(trim(split(exported.text, '\n').front()))}));
  } else {
    add(exported.file_variable, fmt::format("\"$(cat {})\"", harness::in_shell({full})));
  }
  return line + "\n";
}

Status nothing_left(const tune::Rules& rules, std::string_view peer) {
  return {Code::unsupported, fmt::format("nothing of {} can be exported to {}", rules.title, peer)};
}

void say_left_out(const tune::Rules& rules, const Context& context) {
  for (const std::string& line : rules.left_out) context.error << printable(fmt::format("left out: {}", line)) << "\n";
}

// Leaves out the rules that were slower. Then measures their sizes again with the rest, and shows that.
Result<tune::Exported> without_slower(tune::Exported exported, const std::vector<VerifiedSize>& sizes,
                                      const ExportFormat& format, const VerifyOptions& options, const BenchWorld& world,
                                      const Context& context) {
  const std::vector<std::string> dropped = drop_slower(sizes, exported.rules);
  for (const std::string& line : dropped) context.error << printable(line) << "\n";
  if (dropped.empty()) return exported;
  tune::Rules rules = exported.rules;
  rules.left_out.clear();
  tune::simplify(rules);
  if (rules.sections.empty()) return Status(Code::aborted, "nothing remains that is not slower; nothing was written");
  TUTTI_TRY_ASSIGN(tune::Exported rest, format.translate(std::move(rules)));
  const Result<std::vector<VerifiedSize>> measured = verify_again(rest, sizes, options, world, context);
  if (!measured.ok()) {
    if (Interrupt::has_come()) return measured.status();
    context.error << printable(fmt::format("note: what is left to the library could not be measured again: {}",
                                           measured.status().message()))
                  << "\n";
    return rest;
  }
  const std::vector<VerifiedSize>& again = *measured;
  context.out << "\nWith the rules that remain, sizes that are left to the library, measured again:\n\n"
              << to_aligned(table_of(again)) << std::flush;
  for (const std::string& line : costs_of_file(again)) context.error << printable(line) << "\n";
  return rest;
}

// What is not slower than the library's own choice, after the measurements have been shown.
Result<tune::Exported> verified(tune::Exported exported, const ExportFormat& format, const DecisionTable& table,
                                const ExportArguments& options, const BenchWorld& world, const Context& context) {
  if (!format.can_verify)
    return wrong_argument(
        fmt::format("--verify is for openmpi and mpich; {} does not read its file by itself, or is "
                    "not measured by Tutti",
                    format.peer));
  VerifyOptions verify_options = options.verify;
  verify_options.peer = format.peer;
  TUTTI_TRY_ASSIGN(const std::vector<VerifiedSize> sizes, verify(exported, table, verify_options, world, context));
  context.out << to_aligned(table_of(sizes)) << std::flush;
  return without_slower(std::move(exported), sizes, format, verify_options, world, context);
}

Result<tune::Exported> exported_by(const ExportArguments& options, const BenchWorld& world, const Context& context) {
  if (options.is_verified && options.output.path.empty())
    return wrong_argument("--verify needs -o FILE, since standard output has the measurements");
  TUTTI_TRY(check_output(options.output));
  TUTTI_TRY_ASSIGN(const ExportFormat format, find_format(options.choice, world));
  TUTTI_TRY_ASSIGN(const DecisionTable table, table_at(options.table));
  TUTTI_TRY_ASSIGN(tune::Rules rules, tune::rules_of(table, format.peer, format.forced_by));
  TUTTI_TRY_ASSIGN(tune::Exported exported, format.translate(std::move(rules)));
  say_left_out(exported.rules, context);
  if (exported.rules.sections.empty()) return nothing_left(exported.rules, format.peer);
  const std::size_t num_left_out = exported.rules.left_out.size();
  if (options.is_strict && num_left_out > 0)
    return Status(Code::unsupported,
                  fmt::format("--strict: {} cannot express {} of {}", format.peer,
                              num_left_out == 1 ? "a part" : fmt::format("{} parts", num_left_out), rules.title));
  if (options.is_verified) return verified(std::move(exported), format, table, options, world, context);
  return exported;
}

Status write_as_profile(const ExportArguments& options, const Context& context) {
  if (options.is_verified || !options.choice.release.empty() || !options.choice.base.empty() ||
      !options.choice.plugin.empty())
    return wrong_argument("--verify, --release, --base and --plugin are of other libraries; --to is profile");
  TUTTI_TRY(check_output(options.output));
  TUTTI_TRY_ASSIGN(const DecisionTable table, table_at(options.table));
  TUTTI_TRY_ASSIGN(const MachineProfile base, find_shipped_profile(table.profile.empty() ? "generic" : table.profile));
  const std::string name = options.name.empty() ? base.name + "_tuned" : options.name;
  TUTTI_TRY_ASSIGN(const ExportedProfile made, export_to_profile(table, base, name));
  constexpr std::size_t kMostLines = 8;
  for (std::size_t each = 0; each < std::min(made.left_out.size(), kMostLines); ++each)
    context.error << printable(fmt::format("left out: {}", made.left_out[each])) << "\n";
  if (made.left_out.size() > kMostLines)
    context.error << fmt::format("left out: {} more of the kind\n", made.left_out.size() - kMostLines);
  if (options.is_strict && !made.left_out.empty())
    return {Code::unsupported, fmt::format("--strict: a profile cannot express all of {}", table.title())};
  TUTTI_TRY(write_output(write_profile(made.profile), options.output, context));
  context.error << fmt::format("export TUTTI_PROFILE={}\n",
                               options.output.path.empty() ? "FILE" : harness::in_shell({options.output.path}));
  return {};
}

Exit run_export(const ExportArguments& options, const BenchWorld& world, const Context& context) {
  if (same_name(options.choice.to, kProfile)) {
    const Status written = write_as_profile(options, context);
    return written.ok() ? Exit::done : failed(context, "export", written);
  }
  if (!options.name.empty()) return failed(context, "export", wrong_argument("--name is of a profile: --to profile"));
  const Result<tune::Exported> exported = exported_by(options, world, context);
  if (!exported.ok()) {
    const Exit exit = failed(context, "export", exported.status());
    return Interrupt::has_come() ? Interrupt::exit() : exit;
  }
  if (const Status written = write_output(exported->text, options.output, context); !written.ok())
    return failed(context, "export", written);
  context.error << line_to_set(*exported, options.output.path);
  return Exit::done;
}

Run define_export(CLI::App& app, const BenchWorld& world) {
  const auto options = std::make_shared<ExportArguments>();
  app.add_option("table", options->table, "The decision table, of the library that --to names")
      ->type_name("TABLE")
      ->required();
  app.add_option("--to", options->choice.to,
                 "The library that will read the file: openmpi, mpich, nccl or ucc; profile makes a machine profile of "
                 "Tutti's own table")
      ->type_name("LIBRARY")
      ->required();
  app.add_option("--release", options->choice.release,
                 "Of Open MPI: 4 and 5 have the classic form of rules, 6 has JSON [4]")
      ->type_name("4|5|6");
  app.add_option(
         "--base", options->choice.base,
         "What MPICH selects by itself: its library, or generic.json of its sources [the library that Tutti was "
         "built with]")
      ->type_name("FILE");
  app.add_option("--plugin", options->choice.plugin,
                 "Of NCCL, what reads the file: Tutti's own tuner, or the example of NCCL's sources, which gives one "
                 "channel to calls without a line and so gets lines for all [tutti]")
      ->type_name("tutti|example");
  app.add_option("--name", options->name, "With --to profile: what the profile is called [its base's, and _tuned]")
      ->type_name("NAME");
  app.add_flag("--strict", options->is_strict, "Write nothing if a part of the table cannot be expressed");
  app.add_flag(
      "--verify", options->is_verified,
      "Measure the library with the file against itself without, in turns, at the table's sizes. Ranges that are "
      "slower anywhere are left to the library; if nothing remains, write nothing and exit with 1");
  app.add_option("--budget", options->verify.budget,
                 "With --verify: how long a size is measured, in all launches together")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--launches", options->verify.launches, "With --verify: how often ranks are started; 6 or more")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("-o,--output", options->output.path, "Write the file here instead of to standard output")
      ->type_name("FILE")
      ->check(objection_to_file);
  return [options, &world](const Context& context) { return run_export(*options, world, context); };
}

}  // namespace

Command export_command(const BenchWorld& world) {
  return {
      .name = "export",
      .summary = "Write a decision table as the file that Open MPI, MPICH, NCCL or UCC reads, or as a machine profile",
      .examples =
          "tutti export --to openmpi table.toml -o openmpi.rules\n"
          "tutti export --to openmpi --release 6 table.toml -o openmpi.json\n"
          "tutti export --to mpich table.toml -o mpich.json --verify --budget 2s\n"
          "tutti export --to nccl table.toml -o nccl.conf\n"
          "tutti export --to ucc table.toml\n"
          "tutti export --to profile table.toml -o mine.toml",
      .define = [&world](CLI::App& app) { return define_export(app, world); }};
}

}  // namespace tutti::cli
