// SPDX-License-Identifier: Apache-2.0
// `tutti schedule`: one schedule, as text that can be read back, as JSON, or as a picture.
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "algorithms/cases.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/schedule/case_options.hpp"
#include "cli/schedule/choice.hpp"
#include "cli/schedule/schedule_file.hpp"
#include "report/schedule/schedule_svg.hpp"
#include "schedule/json/schedule_json.hpp"
#include "schedule/listed.hpp"
#include "schedule/prove/prove.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostRanksShown = 4096;
constexpr std::uint32_t kMostDrawnRanks = 128;

struct ScheduleArguments {
  ChoiceOptions choice;
  std::uint32_t ranks = 4;
  CaseFilter filter;
  std::string file;
  std::string format = "text";
  std::optional<std::uint32_t> rank;
  bool fused = false;
  OutputOptions output;
};

// The algorithm's schedule for the first case that the options leave.
Result<Schedule> make(const ScheduleArguments& options) {
  if (options.choice.algorithm.empty())
    return Status(Code::invalid_argument, "which schedule? --algorithm names one, or --file has one");
  const Result<std::vector<const Algorithm*>> rows = chosen(options.choice, options.filter);
  if (!rows.ok()) return rows.status();
  const Algorithm& algorithm = *rows->front();
  if (rows->size() > 1) {
    std::string collectives;
    for (const Algorithm* row : *rows)
      collectives += fmt::format("{}{}", collectives.empty() ? "" : ", ", name_of(row->collective));
    return Status(Code::invalid_argument, fmt::format("{} is an algorithm of several collectives; choose by "
                                                      "--collective: {}",
                                                      algorithm.name, collectives));
  }
  const Cases cases = find_cases(algorithm, options.ranks, options.filter);
  if (cases.requests.empty()) return Status(Code::invalid_argument, cases.objection);
  return algorithm.make(cases.requests.front());
}

Result<std::string> render(const ScheduleArguments& options, const Schedule& schedule) {
  const Fusion fusion = options.fused ? Fusion::neighbours : Fusion::none;
  const Programs programs(schedule, fusion);
  if (options.format == "json") return schedule_to_json(programs, options.rank);
  if (options.format == "svg") {
    if (schedule.num_ranks > kMostDrawnRanks)
      return Status(Code::invalid_argument, fmt::format("a picture of {} ranks would show nothing; {} can be drawn",
                                                        schedule.num_ranks, kMostDrawnRanks));
    const Proof proof = prove(schedule);
    if (!proof.ok())
      return Status(Code::invalid_argument,
                    fmt::format("only what is right can be drawn: {}", proof.failure->to_string()));
    return report::schedule_to_svg(programs);
  }
  return write_schedule(schedule);
}

Status check(const ScheduleArguments& options) {
  if (options.format != "text" && options.format != "json" && options.format != "svg")
    return {Code::invalid_argument, fmt::format("--format: {} is not text, json or svg", in_quotes(options.format))};
  if (options.rank && options.format != "json")
    return {Code::invalid_argument, "--rank: only --format json shows a rank by itself"};
  if (options.fused && options.format == "text")
    return {Code::invalid_argument, "--fused: the text form has the steps as written; json and svg show them fused"};
  return {};
}

Exit run(const ScheduleArguments& options, const Context& context) {
  if (const Status status = check(options); !status.ok()) return failed(context, "schedule", status);
  const Result<Schedule> schedule = options.file.empty() ? make(options) : read_schedule_file(options.file);
  if (!schedule.ok()) return failed(context, "schedule", schedule.status());
  if (options.rank && *options.rank >= schedule->num_ranks)
    return failed(context, "schedule",
                  {Code::invalid_argument,
                   fmt::format("--rank: {} is not one of the {} ranks", *options.rank, schedule->num_ranks)});
  const Result<std::string> text = render(options, *schedule);
  if (!text.ok()) return failed(context, "schedule", text.status());
  if (const Status status = write_output(*text, options.output, context); !status.ok())
    return failed(context, "schedule", status);
  return Exit::done;
}

Run define_schedule(CLI::App& app) {
  const auto options = std::make_shared<ScheduleArguments>();  // shared with the closure, which std::function copies
  add_choice_options(app, options->choice);
  app.add_option_function<std::string>("-n,--num-ranks", number_into("--num-ranks", 1, kMostRanksShown, options->ranks),
                                       "How many ranks [4]")
      ->type_name("N");
  add_case_options(app, options->filter, CaseUse::first);
  CLI::Option* file =
      app.add_option("--file", options->file, "Instead: a schedule file or an MSCCL program")->type_name("PATH");
  for (CLI::Option* other : app.get_options())
    if (other != file && other != app.get_help_ptr()) file->excludes(other);
  app.add_option("--format", options->format, "text (can be read back), json, or svg (a picture)")
      ->type_name("text|json|svg")
      ->capture_default_str();
  app.add_option_function<std::string>("--rank", number_into("--rank", 0, kMostRanksShown, options->rank),
                                       "Only this rank (json)")
      ->type_name("RANK");
  app.add_flag("--fused", options->fused, "Fuse neighbouring steps, as the runtime does (json, svg)");
  app.add_option("-o,--output", options->output.path, "Write to this file instead of standard output")
      ->type_name("FILE");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command schedule_command() {
  return {.name = "schedule",
          .summary = "Show the steps of an algorithm or of a schedule file, as text, JSON or a picture",
          .examples =
              "tutti schedule --algorithm ring --collective all_reduce --num-ranks 4\n"
              "tutti schedule --algorithm swing --num-ranks 8 --fused --format svg -o swing.svg\n"
              "tutti schedule --file program.xml --format json --rank 0",
          .define = define_schedule};
}

}  // namespace tutti::cli
