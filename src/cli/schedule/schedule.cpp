// SPDX-License-Identifier: Apache-2.0
// `tutti schedule`: one schedule, as text that can be read back, as JSON, as a picture, or its messages as GOAL.
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "algorithms/cases.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/schedule/case_options.hpp"
#include "cli/schedule/choice.hpp"
#include "cli/schedule/schedule_file.hpp"
#include "data/message_size.hpp"
#include "data/no_element.hpp"
#include "data/type.hpp"
#include "fabric/files/load.hpp"
#include "report/schedule/schedule_svg.hpp"
#include "schedule/json/schedule_json.hpp"
#include "schedule/listed.hpp"
#include "schedule/prove/prove.hpp"
#include "schedule/text/text_form.hpp"
#include "simulate/trace/goal.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostRanksShown = 4096;
constexpr std::uint32_t kMostDrawnRanks = 128;
constexpr std::uint32_t kUsualRanks = 4;

struct ScheduleArguments {
  ChoiceOptions choice;
  std::optional<std::uint32_t> ranks;
  CaseFilter filter;
  std::string file;
  std::string format = "text";
  std::optional<std::uint32_t> rank;
  bool fused = false;
  // Of GOAL.
  std::string bytes;
  std::string type = "f32";
  std::string fabric;
  OutputOptions output;
};

// The algorithm's schedule for the first case that the options leave, on the fabric if there is one.
Result<Schedule> make(const ScheduleArguments& options, const std::optional<fabric::Fabric>& fabric) {
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
  const std::uint32_t num_ranks = options.ranks.value_or(fabric ? fabric->num_ranks() : kUsualRanks);
  CaseFilter filter = options.filter;
  if (fabric) filter.machine_grid = fabric->grid_of(num_ranks);
  const Cases cases = find_cases(algorithm, num_ranks, filter);
  if (cases.requests.empty()) return Status(Code::invalid_argument, cases.objection);
  return algorithm.make(cases.requests.front());
}

Result<std::string> to_goal(const ScheduleArguments& options, const Schedule& schedule,
                            const std::optional<fabric::Fabric>& fabric) {
  const Result<Bytes> bytes = parse_bytes(options.bytes);
  if (!bytes.ok()) return bytes.status().with_context("--bytes");
  const std::optional<Type> type = type_from_name(options.type);
  if (!type)
    return wrong_argument(
        fmt::format("--type: {} is not a type; the types are: {}", in_quotes(options.type), all_type_names()));
  const std::uint64_t count =
      elements_of_block(schedule.collective, schedule.num_ranks, bytes->value(), size_of(*type));
  if (count == 0 && schedule.collective != Collective::barrier)
    return wrong_argument(fmt::format(
        "--bytes: {}", holds_no_element(bytes->value(), *type, num_blocks(schedule.collective, schedule.num_ranks))));
  return simulate::write_goal(schedule,
                              {.count = count, .element_size = size_of(*type), .fabric = fabric ? &*fabric : nullptr});
}

Result<std::string> render(const ScheduleArguments& options, const Schedule& schedule,
                           const std::optional<fabric::Fabric>& fabric) {
  if (options.format == "goal") return to_goal(options, schedule, fabric);
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
  const bool is_goal = options.format == "goal";
  if (options.format != "text" && options.format != "json" && options.format != "svg" && !is_goal)
    return {Code::invalid_argument,
            fmt::format("--format: {} is not text, json, svg or goal", in_quotes(options.format))};
  if (is_goal && options.bytes.empty())
    return wrong_argument("--format goal has messages of so many bytes; say --bytes SIZE");
  if (!is_goal && (!options.bytes.empty() || !options.fabric.empty()))
    return wrong_argument("--bytes and --fabric are of --format goal; a schedule is the same for every size");
  if (options.rank && options.format != "json")
    return {Code::invalid_argument, "--rank: only --format json shows a rank by itself"};
  if (options.fused && (options.format == "text" || is_goal))
    return {Code::invalid_argument,
            is_goal ? "--fused: goal has the messages of fused steps in any case"
                    : "--fused: the text form has the steps as written; json and svg show them fused"};
  return {};
}

Exit run(const ScheduleArguments& options, const Context& context) {
  if (const Status status = check(options); !status.ok()) return failed(context, "schedule", status);
  std::optional<fabric::Fabric> fabric;
  if (!options.fabric.empty()) {
    Result<fabric::Fabric> loaded = fabric::load_fabric(options.fabric);
    if (!loaded.ok()) return failed(context, "schedule", loaded.status().with_context("--fabric"));
    fabric = *std::move(loaded);
  }
  const Result<Schedule> schedule = options.file.empty() ? make(options, fabric) : read_schedule_file(options.file);
  if (!schedule.ok()) return failed(context, "schedule", schedule.status());
  if (fabric && schedule->num_ranks > fabric->num_ranks())
    return failed(context, "schedule",
                  wrong_argument(fmt::format("--fabric: {} has {}; the schedule is for {}", fabric->name,
                                             counted(fabric->num_ranks(), "rank"), schedule->num_ranks)));
  if (options.rank && *options.rank >= schedule->num_ranks)
    return failed(context, "schedule",
                  {Code::invalid_argument,
                   fmt::format("--rank: {} is not one of the {} ranks", *options.rank, schedule->num_ranks)});
  const Result<std::string> text = render(options, *schedule, fabric);
  if (!text.ok()) return failed(context, "schedule", text.status());
  if (const Status status = write_output(*text, options.output, context); !status.ok())
    return failed(context, "schedule", status);
  return Exit::done;
}

Run define_schedule(CLI::App& app) {
  const auto options = std::make_shared<ScheduleArguments>();  // shared with the closure, which std::function copies
  add_choice_options(app, options->choice);
  app.add_option_function<std::string>("-n,--num-ranks", number_into("--num-ranks", 1, kMostRanksShown, options->ranks),
                                       "How many ranks [4, or all of --fabric]")
      ->type_name("N");
  add_case_options(app, options->filter, CaseUse::first);
  CLI::Option* file =
      app.add_option("--file", options->file, "Instead: a schedule file or an MSCCL program")->type_name("PATH");
  for (CLI::Option* other : app.get_options())
    if (other != file && other != app.get_help_ptr()) file->excludes(other);
  app.add_option("--format", options->format,
                 "text (can be read back), json, svg (a picture), or goal (its messages, for "
                 "simulators; docs/formats/goal.md)")
      ->type_name("text|json|svg|goal")
      ->capture_default_str();
  app.add_option_function<std::string>("--rank", number_into("--rank", 0, kMostRanksShown, options->rank),
                                       "Only this rank (json)")
      ->type_name("RANK");
  app.add_flag("--fused", options->fused, "Fuse neighbouring steps, as the runtime does (json, svg)");
  app.add_option("--bytes", options->bytes, "The size, as nccl-tests means it: 8, 4K (goal)")->type_name("SIZE");
  app.add_option("--type", options->type, "The elements' type (goal)")->type_name("TYPE")->capture_default_str();
  app.add_option("--fabric", options->fabric,
                 "Folds and copies take as long as on this machine; without it they take no time (goal)")
      ->type_name("FABRIC");
  app.add_option("-o,--output", options->output.path, "Write to this file instead of standard output")
      ->type_name("FILE");
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command schedule_command() {
  return {.name = "schedule",
          .summary = "Show the steps of an algorithm or of a schedule file, as text, JSON, a picture or GOAL",
          .examples =
              "tutti schedule --algorithm ring --collective all_reduce --num-ranks 4\n"
              "tutti schedule --algorithm swing --num-ranks 8 --fused --format svg -o swing.svg\n"
              "tutti schedule --file program.xml --format json --rank 0\n"
              "tutti schedule --algorithm ring --collective all_reduce --format goal --bytes 1M --fabric switch:8",
          .define = define_schedule};
}

}  // namespace tutti::cli
