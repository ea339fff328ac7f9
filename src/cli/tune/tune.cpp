// SPDX-License-Identifier: Apache-2.0
// `tutti tune`: finds the fastest way of each collective at each size on this machine, and writes the decision table.
#include <memory>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/variables/variables.hpp"
#include "cli/output.hpp"
#include "cli/tune/program/program_tuning.hpp"
#include "cli/tune/tune_commands.hpp"
#include "cli/tune/tune_report.hpp"
#include "cli/tune/tune_request.hpp"
#include "cli/tune/tune_results.hpp"
#include "cli/tune/tuning.hpp"
#include "runtime/selection/profile_choice.hpp"
#include "runtime/selection/table_choice.hpp"
#include "table/table_file.hpp"
#include "tune/candidates.hpp"

namespace tutti::cli {

namespace {

struct TuneArguments : TuneOptions {
  ProgramOptions program;
  OutputOptions data;  // of what is shown
};

std::string candidates_text(const TuneRequest& request, const BenchWorld& world) {
  std::string text;
  for (const TuneCase& each_case : request.cases) {
    const tune::CaseKey& key = each_case.key;
    text += fmt::format("{}, {}, {:.0f} % of the time:\n", words_of(key), counted(each_case.sizes.size(), "size"),
                        each_case.share * 100);
    if (request.is_own) {
      const tune::Candidates candidates = tune::own_candidates(
          key.collective, {.ranks = key.ranks, .cores = request.cores, .memory = key.memory, .order = request.order});
      for (const TableWay& way : candidates.first)
        text += fmt::format("  {}, and {} of values at the greatest size\n", way.to_string(),
                            counted(candidates.neighbours(way, each_case.sizes.back()).size(), "change"));
      continue;
    }
    text += "  the default\n";
    for (const harness::ForcedAlgorithm& each : world.algorithms_of(request.peer.name, name_of(key.collective)))
      text += fmt::format("  {}\n", each.name);
  }
  return text;
}

Exit explain(const TuneArguments& options, const TuneRequest& request, const Context& context) {
  const Result<Bytes> bytes = parse_bytes(options.explain);
  if (!bytes.ok()) return misused(context, "tune", fmt::format("--explain: {}", bytes.status().message()));
  const Result<std::string> text = read_file(request.path, kMostTableBytes);
  if (!text.ok()) return failed(context, "tune", text.status());
  const Result<DecisionTable> table = read_table(*text, request.path);
  if (!table.ok()) return failed(context, "tune", table.status());
  context.out << explained(*table, bytes->value());
  return Exit::done;
}

// What only races of collectives have, said beside a program.
Status check_program(const TuneArguments& options) {
  const TuneOptions usual;
  const std::pair<bool, const char*> others[] = {{!options.workload.empty(), "--workload"},
                                                 {!options.from.empty(), "--from"},
                                                 {!options.explain.empty(), "--explain"},
                                                 {!options.hosts.hosts.empty(), "--hosts"},
                                                 {options.collectives != usual.collectives, "--collective"},
                                                 {!options.ranks.empty(), "--ranks"},
                                                 {options.bytes != usual.bytes, "--bytes"},
                                                 {!options.types.empty(), "--types"},
                                                 {options.memory != usual.memory, "--memory"},
                                                 {options.peer != usual.peer, "--peer"},
                                                 {options.exhaustive, "--exhaustive"},
                                                 {options.dry_run, "--dry-run"},
                                                 {options.resumes, "--resume"},
                                                 {options.order != usual.order, "--order"},
                                                 {!options.machine.empty(), "--machine"},
                                                 {options.seed != usual.seed, "--seed"},
                                                 {options.keeps_numbers, "--keep-numbers"},
                                                 {options.anyway, "--anyway"}};
  for (const auto& [is_said, name] : others)
    if (is_said) return wrong_argument(fmt::format("{} is for collectives, not for a program behind --", name));
  return {};
}

Exit run_program(TuneArguments options, const BenchWorld& world, const Context& context) {
  if (const Status fit = check_program(options); !fit.ok()) return failed(context, "tune", fit);
  options.program.budget = options.budget;
  options.program.output = options.output;
  options.program.store = options.store;
  options.program.no_store = options.no_store;
  return tune_program(options.program, world, options.data, context);
}

Exit run(const TuneArguments& options, const BenchWorld& world, const Context& context) {
  if (!options.program.sweep.command.empty()) return run_program(options, world, context);
  if (!options.program.sweep.env.empty() || !options.program.sweep.env_zip.empty())
    return failed(context, "tune",
                  wrong_argument("--env is for a program; it comes behind --: tutti tune --env A=1,2 -- PROGRAM"));
  if (!options.from.empty()) {
    const Status made = tune_from_results(options, options.data, context);
    return made.ok() ? Exit::done : failed(context, "tune", made);
  }
  const Result<TuneRequest> request = read_request(options, world, context.environment);
  if (!request.ok()) return failed(context, "tune", request.status());
  if (!options.explain.empty()) return explain(options, *request, context);
  for (const std::string& note : request->notes) context.error << note << "\n";
  if (options.dry_run) {
    context.out << candidates_text(*request, world);
    return Exit::done;
  }
  const VariablesReading reading = Variables::read(context.environment, ConfPaths::standard(context.environment));
  const ProfileChoice profile = choose_profile(reading.variables.text(VariableId::profile));
  const TableChoice table = request->is_own ? choose_table(reading.variables) : TableChoice();
  if (!profile.unread.ok()) return failed(context, "tune", profile.unread);
  if (!table.unread.ok()) return failed(context, "tune", table.unread);
  const Before before{.table = table.table, .profile = profile.profile->place.empty() ? profile.profile->name : ""};
  return run_tuning(*request, options, before, world, options.data, context);
}

}  // namespace

Command tune_command(const BenchWorld& world) {
  return {.name = "tune",
          .summary = "Find the fastest way of each collective at each size on this machine, and keep it as a table",
          .examples =
              "tutti tune\n"
              "tutti tune --collective all_gather,broadcast --ranks 4 --budget 30s\n"
              "tutti tune --explain 64K\n"
              "tutti tune --workload workload.toml\n"
              "tutti tune --peer openmpi --ranks 2 -o openmpi.toml\n"
              "tutti tune --peer simulate:torus_2d:8x8 -o torus.toml\n"
              "tutti tune --from results.csv --machine h100 -o h100.toml\n"
              "tutti tune --env NCCL_ALGO=unset,Ring,Tree --env NCCL_PROTO=unset,LL,LL128 -- ./all_reduce_perf -b 8 -e "
              "64M -f 2",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<TuneArguments>();  // shared with the closure, which is copied
            add_tune_options(app, *options);
            add_wide_option(app, options->data);
            begin_group(app, "A program instead of collectives");
            add_program_tuning_options(app, options->program);
            return [options, &world](const Context& context) { return run(*options, world, context); };
          }};
}

}  // namespace tutti::cli
