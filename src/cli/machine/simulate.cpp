// SPDX-License-Identifier: Apache-2.0
// `tutti simulate`: how long algorithms would take on a fabric, where the time would go, and why one is faster.
#include "simulate/simulate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/results/result.hpp"
#include "bench/views/table.hpp"
#include "cli/commands.hpp"
#include "cli/machine/simulate_against.hpp"
#include "cli/machine/simulate_blind.hpp"
#include "cli/machine/simulate_cells.hpp"
#include "cli/machine/simulate_figure.hpp"
#include "cli/machine/simulate_table.hpp"
#include "cli/machine/simulate_traces.hpp"
#include "cli/machine/simulate_workload.hpp"
#include "cli/number.hpp"
#include "cli/output.hpp"
#include "cli/schedule/case_options.hpp"
#include "cli/schedule/choice.hpp"
#include "cli/schedule/schedule_file.hpp"
#include "data/type.hpp"
#include "fabric/files/load.hpp"
#include "simulate/explain/reason.hpp"
#include "simulate/explain/timeline.hpp"
#include "simulate/explain/transcript.hpp"
#include "simulate/references/correction.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostSimulated = 1U << 20U;
constexpr std::size_t kMostLinks = 1000;
constexpr std::uint32_t kMostParts = 64;
constexpr std::uint32_t kMostCopies = 16;
constexpr std::uint32_t kMostWeight = 1'000'000;

struct SimulateArguments : CellOptions {
  std::vector<std::string> fabrics;
  bool no_correction = false;
  std::size_t links = 0;
  bool why = false;
  bool transcript = false;
  std::string timeline;
  std::string figure;
  std::string against;
  std::string leave_out;
  bool uncertainty = false;
  std::string workload;
  OutputOptions output;

  [[nodiscard]] bool adds_copies() const { return copies.whole > 0 || copies.parts > 0; }
};

// Of each size, the fastest against each other one of the same collective.
std::string reasons_for(const std::vector<Simulated>& all) {
  std::string text;
  for (const Simulated& one : all) {
    const Simulated* fastest = &one;
    for (const Simulated& other : all) {
      if (other.fabric != one.fabric || other.cell.bytes != one.cell.bytes ||
          other.cell.schedule.collective != one.cell.schedule.collective)
        continue;
      if (other.answer.time < fastest->answer.time) fastest = &other;
    }
    if (fastest == &one) continue;
    text += fmt::format("{}, {}: {}\n", name_of(one.cell.schedule.collective), to_text(Bytes(one.cell.bytes)),
                        simulate::why_faster({fastest->cell.name(), fastest->answer}, {one.cell.name(), one.answer}));
  }
  return text.empty() ? "there is nothing to compare: name several algorithms\n" : text;
}

// Which case of an algorithm is meant.
bool names_a_case(const CaseFilter& filter) {
  return filter.root || filter.radix || filter.grid || filter.corner || filter.inner || filter.groups;
}

Status check(const SimulateArguments& options) {
  if (!options.files.empty() && (!options.choice.algorithm.empty() || !options.choice.collective.empty()))
    return wrong_argument("--file says which schedule; leave out --algorithm and --collective");
  if (!options.files.empty() && options.ranks)
    return wrong_argument("--file says how many ranks there are; leave out --num-ranks");
  if (!options.files.empty() && (names_a_case(options.filter) || options.by_name))
    return wrong_argument("--file says all of the schedule; leave out parameters of algorithms, and --by-name");
  if (options.adds_copies() && (options.transcript || !options.timeline.empty()))
    return wrong_argument(
        "--copies and --part-copies are not in --transcript and --timeline, which are of the operation; leave them "
        "out");
  const CaseFilter& filter = options.filter;
  if (!options.implementations.empty() &&
      (!options.files.empty() || options.parts > 1 || options.by_name || options.adds_copies() || options.transcript ||
       !options.timeline.empty() || !options.weights.empty() || filter.radix || filter.grid || filter.corner ||
       filter.inner || filter.groups))
    return wrong_argument(
        "--implementation: the fabric's file says how it is done; leave out --file, --parts, --by-name, --copies, "
        "--part-copies, --weights, --transcript, --timeline and parameters of algorithms other than --root");
  const auto is_zero = [](std::uint32_t weight) { return weight == 0; };
  if (!options.weights.empty() && std::all_of(options.weights.begin(), options.weights.end(), is_zero))
    return {Code::invalid_argument, "--weights: all are 0, so no block has any bytes"};
  const std::string_view told = options.why ? "--why" : options.transcript ? "--transcript" : "";
  if (!told.empty() && options.output.format != Format::table)
    return {Code::invalid_argument, fmt::format("{}: it is told in words, and has no other format", told)};
  if (!told.empty() && options.links > 0)
    return {Code::invalid_argument, fmt::format("{} and --links are two answers; ask for one", told)};
  if (options.transcript && (options.why || !options.timeline.empty()))
    return {Code::invalid_argument, "--transcript is an answer by itself; leave out --why and --timeline"};
  const std::string_view of_one = !told.empty()               ? told
                                  : options.links > 0         ? "--links"
                                  : !options.timeline.empty() ? "--timeline"
                                                              : "";
  if (!of_one.empty() && options.fabrics.size() > 1)
    return {Code::invalid_argument,
            fmt::format("{} is of one fabric, and --fabric is there {} times", of_one, options.fabrics.size())};
  return {};
}

Status check_outputs(const SimulateArguments& options) {
  const std::array<OutputOptions, 3> outputs = {options.output,
                                                {.path = options.timeline, .option = "--timeline"},
                                                {.path = options.figure, .option = "--figure"}};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    TUTTI_TRY(check_output(outputs[i]));
    for (std::size_t j = 0; j < i; ++j)
      if (are_one_file(outputs[i], outputs[j]))
        return wrong_argument(fmt::format("{} and {} are both {}; give two files", outputs[i].option, outputs[j].option,
                                          in_quotes(outputs[i].path)));
  }
  return {};
}

// What could not be done goes to `failed`.
Status simulate_on(const SimulateArguments& options, const std::string& asked, const fabric::Fabric& fabric,
                   simulate::Recorder* recorder, const std::optional<simulate::Corrections>& corrections,
                   std::vector<Simulated>& all, std::vector<Status>& failed, std::set<std::string>& skipped) {
  const Result<std::vector<SimulatedCell>> cells = cells_of(options, fabric, skipped);
  // Of several fabrics some may name what others do not.
  if (!cells.ok() && !options.implementations.empty() && options.fabrics.size() > 1 && fabric.implementations.empty()) {
    skipped.insert(cells.status().to_string());
    return {};
  }
  if (!cells.ok()) return cells.status();
  if (recorder != nullptr && cells->size() != 1)
    return {Code::invalid_argument, fmt::format("{}: it is of one algorithm with one size, and this is {} cells",
                                                options.transcript ? "--transcript" : "--timeline", cells->size())};
  for (const SimulatedCell& cell : *cells) {
    Result<Simulated> one = simulate_cell(options, asked, cell, fabric, recorder, corrections);
    if (!one.ok()) {
      failed.push_back(one.status());
      continue;
    }
    // There may be many rows, and each would keep all its links.
    if (options.links == 0) one->answer.links = {};
    one->answer.rank_times = {};
    const auto same = std::find_if(all.begin(), all.end(), [&](const Simulated& other) {
      return !cell.implementation.empty() && other.fabric == asked &&
             other.cell.implementation == cell.implementation && other.cell.bytes == cell.bytes &&
             other.cell.schedule.collective == cell.schedule.collective;
    });
    if (same == all.end()) {
      all.push_back(*std::move(one));
    } else if (one->answer.time < same->answer.time) {
      *same = *std::move(one);  // it takes the fastest of its ways, by the model alone
    }
  }
  return {};
}

std::string figure_of(const std::vector<Simulated>& all) {
  std::vector<SimulatedTime> times;
  for (const Simulated& one : all) {
    times.push_back({.fabric = one.fabric,
                     .collective = std::string(name_of(one.cell.schedule.collective)),
                     .algorithm = one.cell.name(),
                     .bytes = one.cell.bytes,
                     .microseconds = one.time() / 1e3});
    if (one.correction)
      times.back().range =
          report::Range{one.answer.time * one.correction->low / 1e3, one.answer.time * one.correction->high / 1e3};
  }
  return times_to_svg(times);
}

// Of figures that are published.
Result<Exit> run_against(const SimulateArguments& options, const Context& context) {
  const CellOptions usual;
  const bool says_more = options.why || options.transcript || options.links > 0 || !options.timeline.empty() ||
                         options.adds_copies() || options.by_name || options.no_correction || !options.files.empty() ||
                         !options.implementations.empty() || !options.choice.algorithm.empty() ||
                         !options.choice.collective.empty() || options.ranks || options.parts > 1 ||
                         !options.weights.empty() || options.bytes != usual.bytes || options.type != usual.type ||
                         names_a_case(options.filter) || !options.workload.empty();
  if (says_more)
    return wrong_argument(
        "--against: the file says what is simulated and how; only --leave-out, --uncertainty, --figure and options of "
        "output stand beside it");
  TUTTI_TRY(check_outputs(options));
  if (options.uncertainty) {
    if (!options.leave_out.empty() || !options.figure.empty())
      return wrong_argument("--uncertainty is an answer by itself; leave out --leave-out and --figure");
    TUTTI_TRY_ASSIGN(const std::string text, uncertainty(options.against, options.output));
    TUTTI_TRY(write_output(text, options.output, context));
    return Exit::done;
  }
  if (!options.leave_out.empty()) {
    const bool by_ranks = same_name(options.leave_out, "ranks");
    if (!by_ranks && !same_name(options.leave_out, "sizes"))
      return wrong_argument(fmt::format("--leave-out: {} is not ranks or sizes", in_quotes(options.leave_out)));
    if (!options.figure.empty()) return wrong_argument("--leave-out draws no figure; leave out --figure");
    TUTTI_TRY_ASSIGN(const std::string text,
                     blind_test(options.against, by_ranks ? simulate::LeftOut::ranks : simulate::LeftOut::sizes,
                                options.output, context));
    TUTTI_TRY(write_output(text, options.output, context));
    return Exit::done;
  }
  const Result<Against> answer = against(options.against, options.output, !options.figure.empty());
  if (!answer.ok()) return answer.status().with_context("--against");
  if (!options.figure.empty())
    TUTTI_TRY(write_output(answer->figure, {.path = options.figure, .option = "--figure"}, context));
  TUTTI_TRY(write_output(answer->text, options.output, context));
  return Exit::done;
}

// Of a workload, whose entries have sizes and types of their own.
Status check_for_workload(const SimulateArguments& options) {
  const CellOptions usual;
  const bool says_more = options.why || options.transcript || options.links > 0 || !options.timeline.empty() ||
                         !options.figure.empty() || options.adds_copies() || options.by_name ||
                         !options.files.empty() || !options.implementations.empty() ||
                         !options.choice.algorithm.empty() || !options.choice.collective.empty() || options.ranks ||
                         options.parts > 1 || !options.weights.empty() || options.bytes != usual.bytes ||
                         options.type != usual.type || names_a_case(options.filter);
  if (says_more)
    return wrong_argument(
        "--workload: the file says what is called; only --fabric, --no-correction and options of output stand beside "
        "it");
  return {};
}

// Of traces: their messages have sizes and ends of their own.
Status check_for_traces(const SimulateArguments& options) {
  const CellOptions usual;
  const bool says_more = options.why || options.links > 0 || !options.figure.empty() || options.adds_copies() ||
                         options.no_correction || options.parts > 1 || !options.weights.empty() ||
                         options.bytes != usual.bytes || options.type != usual.type;
  if (says_more)
    return wrong_argument(
        "--file: a trace says all of what is simulated; only --fabric, --transcript, --timeline and options of output "
        "stand beside it");
  return {};
}

// What the files hold: schedules go to `options`, traces to `traces`.
Status read_files(SimulateArguments& options, std::vector<simulate::Trace>& traces) {
  for (const std::string& path : options.files) {
    TUTTI_TRY_ASSIGN(auto read, read_schedule_or_trace(path));
    if (auto* const trace = std::get_if<simulate::Trace>(&read)) traces.push_back(std::move(*trace));
    if (auto* const schedule = std::get_if<Schedule>(&read)) options.schedules.push_back(std::move(*schedule));
  }
  if (!traces.empty() && !options.schedules.empty())
    return wrong_argument("--file: some are schedules and some traces; simulate these by themselves");
  return traces.empty() ? Status() : check_for_traces(options);
}

std::string text_of(const SimulateArguments& options, const std::vector<Simulated>& all, const fabric::Fabric& first,
                    const simulate::Transcript& transcript, const Context& context) {
  std::string text = options.why          ? reasons_for(all)
                     : options.transcript ? transcript.text()
                     : options.links > 0  ? rendered(links_of(all, first, options.links), options.output)
                                         : narrowed(table_of(all, options.fabrics.size() > 1), options.output, context);
  if (options.output.format == Format::table && !options.why && !options.transcript && options.links == 0)
    text += undecided(all);
  return text;
}

Result<std::vector<fabric::Fabric>> fabrics_of(const SimulateArguments& options) {
  std::vector<fabric::Fabric> fabrics;
  for (const std::string& asked : options.fabrics) {
    Result<fabric::Fabric> fabric = fabric::load_fabric(asked);
    if (!fabric.ok()) return fabric.status().with_context("--fabric");
    if (options.ranks && *options.ranks > fabric->num_ranks())
      return wrong_argument(fmt::format("--num-ranks: {} has {}", fabric->name, fabric->num_ranks()));
    fabrics.push_back(*std::move(fabric));
  }
  return fabrics;
}

Result<Exit> run_on_fabrics(SimulateArguments options, const Context& context) {
  if (!options.workload.empty()) TUTTI_TRY(check_for_workload(options));
  TUTTI_TRY(check(options));
  TUTTI_TRY(check_outputs(options));
  std::vector<simulate::Trace> traces;
  TUTTI_TRY(read_files(options, traces));
  TUTTI_TRY_ASSIGN(std::vector<fabric::Fabric> fabrics, fabrics_of(options));
  if (!options.workload.empty())
    return simulate_workload({.path = options.workload,
                              .asked = options.fabrics,
                              .fabrics = std::move(fabrics),
                              .no_correction = options.no_correction,
                              .output = options.output},
                             context);
  if (!traces.empty())
    return simulate_traces({.asked = options.fabrics,
                            .fabrics = std::move(fabrics),
                            .traces = std::move(traces),
                            .transcript = options.transcript,
                            .timeline = options.timeline,
                            .output = options.output},
                           context);
  simulate::Timeline timeline;
  simulate::Transcript transcript(fabrics.front());
  simulate::Recorder* const recorder = options.transcript         ? static_cast<simulate::Recorder*>(&transcript)
                                       : options.timeline.empty() ? nullptr
                                                                  : &timeline;
  std::optional<simulate::Corrections> corrections;
  if (!options.no_correction) {
    TUTTI_TRY_ASSIGN(corrections, simulate::Corrections::of_shipped(options.fabrics));
  }
  std::vector<Simulated> all;
  std::vector<Status> failed;
  std::set<std::string> skipped;
  for (std::size_t each = 0; each < fabrics.size(); ++each)
    TUTTI_TRY(simulate_on(options, options.fabrics[each], fabrics[each], recorder, corrections, all, failed, skipped));
  for (const std::string& words : skipped) context.error << "tutti simulate: skipped " << words << "\n";
  for (const Status& status : failed) context.error << "tutti simulate: " << status.to_string() << "\n";
  // What the fabric cannot do has been said, and is nobody's mistake, as long as there is anything else to tell.
  const bool all_right = std::all_of(failed.begin(), failed.end(),
                                     [](const Status& status) { return status.code() == Code::unsupported; });
  if (all.empty()) return all_right ? Exit::misused : Exit::found_wrong;
  if (!options.timeline.empty())
    TUTTI_TRY(write_output(timeline.to_json(), {.path = options.timeline, .option = "--timeline"}, context));
  if (!options.figure.empty())
    TUTTI_TRY(write_output(figure_of(all), {.path = options.figure, .option = "--figure"}, context));
  TUTTI_TRY(write_output(text_of(options, all, fabrics.front(), transcript, context), options.output, context));
  return all_right ? Exit::done : Exit::found_wrong;
}

Exit run(const SimulateArguments& options, const Context& context) {
  if ((!options.leave_out.empty() || options.uncertainty) && options.against.empty())
    return failed(context, "simulate",
                  wrong_argument(fmt::format("{} is of the figures of --against; say which file",
                                             options.uncertainty ? "--uncertainty" : "--leave-out")));
  if (options.against.empty() == options.fabrics.empty())
    return failed(context, "simulate",
                  {Code::invalid_argument,
                   options.fabrics.empty() ? "--fabric: say which machine, or --against which figures"
                                           : "--against: the file's figures name their fabrics; leave out --fabric"});
  const Result<Exit> exit = options.against.empty() ? run_on_fabrics(options, context) : run_against(options, context);
  return exit.ok() ? *exit : failed(context, "simulate", exit.status());
}

// The options outlive the application, as those of define_simulate do.
void add_sizes(CLI::App& app, SimulateArguments& options) {
  app.add_option("--bytes", options.bytes, "Sizes, as nccl-tests means them: 8, 4K, 8:64M:x4")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--type", options.type, "The elements' type")->type_name("TYPE")->capture_default_str();
  app.add_option_function<std::string>(
         "--weights",
         [&options](const std::string& text) {
           options.weights.clear();
           for (const std::string_view part : split(text, ',')) {
             const auto weight = read_number<std::uint32_t>(part, 0, kMostWeight);
             if (!weight) refuse_option("--weights", text, "a list of numbers up to 1000000, like 1,0,3");
             options.weights.push_back(*weight);
           }
         },
         "Sizes of the blocks of all_gather_v and its like, as weights that repeat: 1,0,3 [equal]")
      ->type_name("LIST");
}

void add_what(CLI::App& app, SimulateArguments& options) {
  app.add_option_function<std::vector<std::string>>(
         "--fabric", [&options](const std::vector<std::string>& fabrics) { options.fabrics = fabrics; },
         "The machine: torus_2d:2x3, switch:8, a file ('tutti list fabrics' has all); may be repeated")
      ->type_name("FABRIC")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--against", options.against,
                 "Instead: set the published figures of a file beside the simulated ones, with a score")
      ->type_name("FILE")
      ->check(objection_to_file);
  app.add_option(
         "--leave-out", options.leave_out,
         "With --against: a blind test. Fits without each number of ranks, or without one size in two, and says "
         "how well these are predicted")
      ->type_name("ranks|sizes");
  app.add_flag("--uncertainty", options.uncertainty,
               "With --against: how far each fitted parameter may be moved, and whether a bar is missed where it is "
               "moved by a fifth");
  add_choice_options(app, options.choice);
  app.add_option("--file", options.files,
                 "Instead of algorithms: schedule files (docs/formats/schedule.md), MSCCL programs "
                 "(docs/formats/msccl.md), or traces in GOAL (docs/formats/goal.md)")
      ->type_name("PATH")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--implementation", options.implementations,
                 "Instead of algorithms, or with --algorithm beside them: what people run there, such as nccl, by a "
                 "name that the fabric's file has, or all; may be repeated. It takes the fastest of its ways")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--workload", options.workload,
                 "Instead: the calls of a program, each by its fastest algorithm, and what it computes in between "
                 "(docs/formats/workload.md)")
      ->type_name("FILE")
      ->check(objection_to_file);
  app.add_option_function<std::string>("-n,--num-ranks", number_into("--num-ranks", 1, kMostSimulated, options.ranks),
                                       "Only the first N of the fabric's ranks [all]")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--parts", number_into("--parts", 1, kMostParts, options.parts),
         "Split the data into N parts that run side by side, as NCCL's channels do; for algorithms that send messages "
         "[1]")
      ->type_name("N");
  app.add_flag("--no-correction", options.no_correction,
               "Times as the model gives them, without what published times near them say of its errors");
  app.add_flag("--by-name", options.by_name,
               "Read exposed data where they lie, without a copy for others; for algorithms that are right so");
  app.add_option_function<std::string>(
         "--copies", number_into("--copies", 1, kMostCopies, options.copies.whole),
         "Add N copies of the whole buffer, into memory that others see and out of it [0]")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--part-copies", number_into("--part-copies", 1, kMostCopies, options.copies.parts),
         "Add N copies of each rank's part, such as those of a kernel that folds into a buffer of its own [0]")
      ->type_name("N");
  add_case_options(app, options.filter, CaseUse::on_fabric);
  add_sizes(app, options);
}

void add_how_shown(CLI::App& app, SimulateArguments& options) {
  app.add_option_function<std::string>("--links", number_into("--links", 1, kMostLinks, options.links),
                                       "Instead: the N busiest links of each row")
      ->type_name("N");
  app.add_flag("--why", options.why, "Instead: for each size, why the fastest is faster than the others");
  app.add_flag("--transcript", options.transcript,
               "Instead: every event in words, in order of time; for one algorithm and one size");
  app.add_option("--timeline", options.timeline, "Also: write a timeline for Chrome's about:tracing or Perfetto")
      ->type_name("FILE")
      ->check(objection_to_file);
  app.add_option("--figure", options.figure,
                 "Also: draw times over sizes (SVG), or with --against published beside simulated figures")
      ->type_name("FILE")
      ->check(objection_to_file);
  add_output_options(app, options.output);
  add_wide_option(app, options.output);
}

Run define_simulate(CLI::App& app) {
  const auto options = std::make_shared<SimulateArguments>();  // shared with the closure, which std::function copies
  add_what(app, *options);
  add_how_shown(app, *options);
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command simulate_command() {
  return {
      .name = "simulate",
      .summary = "Simulate algorithms on a fabric: how long each takes, and where the time goes",
      .examples =
          "tutti simulate --fabric torus_2d:4x4 --collective all_reduce --bytes 1M\n"
          "tutti simulate --fabric switch:8 --algorithm ring --collective all_reduce --bytes 8:64M:x4 --format csv\n"
          "tutti simulate --fabric ring_1d:16 --collective all_reduce --bytes 1M --why\n"
          "tutti simulate --fabric h100_node:4 --collective all_reduce --bytes 512K:64M:x4 --implementation all\n"
          "tutti simulate --against data/references/vllm_all_reduce.toml\n"
          "tutti simulate --fabric torus_2d:2x3 --fabric ring_1d:6 --collective all_reduce --algorithm ring --figure "
          "times.svg\n"
          "tutti simulate --fabric ring_1d:3 --collective all_reduce --algorithm ring --bytes 12 --transcript\n"
          "tutti simulate --fabric switch:8 --collective all_to_all_v --bytes 1M --weights 1,0,0,5\n"
          "tutti simulate --fabric fat_tree:4x8,uplinks=4 --file trace.goal\n"
          "tutti simulate --fabric h100_cluster:2x8 --workload training.toml",
      .define = define_simulate};
}

}  // namespace tutti::cli
