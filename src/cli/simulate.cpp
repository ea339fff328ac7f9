// `tutti simulate`: how long algorithms would take on a fabric, where the time would go, and why one is faster.
#include "simulate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "algorithms/cases.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/table.hpp"
#include "cli/case_options.hpp"
#include "cli/choice.hpp"
#include "cli/commands.hpp"
#include "cli/number.hpp"
#include "cli/output.hpp"
#include "cli/simulate_against.hpp"
#include "data/no_element.hpp"
#include "data/type.hpp"
#include "fabric/load.hpp"
#include "schedule/definition.hpp"
#include "schedule/message_size.hpp"
#include "schedule/side_by_side.hpp"
#include "simulate/reason.hpp"
#include "simulate/timeline.hpp"
#include "simulate/transcript.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostSimulated = 1U << 20U;
constexpr std::size_t kMostLinks = 1000;
constexpr std::uint32_t kMostParts = 64;
constexpr std::uint32_t kMostWeight = 1'000'000;

struct SimulateArguments {
  std::string fabric;
  ChoiceOptions choice;
  std::optional<std::uint32_t> ranks;
  std::uint32_t parts = 1;
  CaseFilter filter;
  std::string bytes = "8:64M:x4";
  std::string type = "f32";
  std::vector<std::uint32_t> weights;
  std::string sharing = "queueing";
  std::size_t links = 0;
  bool why = false;
  bool transcript = false;
  std::string timeline;
  std::string against;
  OutputOptions output;
};

// What is simulated: one row.
struct SimulatedCell {
  const Algorithm* algorithm = nullptr;
  Schedule schedule;
  std::uint64_t bytes = 0;                 // as asked
  std::uint64_t count = 0;                 // elements of a block
  std::vector<std::uint64_t> counts = {};  // of each class of blocks, where they differ
  double moved = 0;                        // bytes of the whole elements, of which the rates are
};

struct Simulated {
  SimulatedCell cell;
  simulate::Answer answer;
};

// The same bytes in blocks that are to each other as the weights, which repeat. None where all are alike.
std::vector<std::uint64_t> elements_of_blocks(const Schedule& schedule, std::uint64_t bytes, std::size_t element_size,
                                              const std::vector<std::uint32_t>& weights) {
  std::vector<std::uint64_t> counts;
  if (weights.empty() || !facts_of(schedule.collective).varies) return counts;
  const std::uint32_t num_classes = num_size_classes(schedule);
  double sum = 0;
  for (std::uint32_t each = 0; each < num_classes; ++each) sum += weights[each % weights.size()];
  const double all = static_cast<double>(bytes / element_size) * num_classes / schedule.num_ranks;
  for (std::uint32_t each = 0; each < num_classes; ++each)
    counts.push_back(static_cast<std::uint64_t>(all * weights[each % weights.size()] / sum));
  return counts;
}

// Weights behind the last block are nobody's.
bool has_no_weight(const Schedule& schedule, const std::vector<std::uint32_t>& weights) {
  const std::size_t used = std::min<std::size_t>(weights.size(), num_size_classes(schedule));
  return std::all_of(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(used),
                     [](std::uint32_t weight) { return weight == 0; });
}

SimulatedCell cell_of(const Algorithm& algorithm, const Schedule& schedule, std::uint64_t bytes, Type type,
                      const std::vector<std::uint32_t>& weights) {
  SimulatedCell cell{.algorithm = &algorithm, .schedule = schedule, .bytes = bytes};
  const std::size_t element_size = size_of(type);
  cell.count = elements_of_block(schedule.collective, schedule.num_ranks, bytes, element_size);
  cell.counts = elements_of_blocks(schedule, bytes, element_size, weights);
  const double elements = cell.counts.empty()
                              ? static_cast<double>(cell.count) * num_blocks(schedule.collective, schedule.num_ranks)
                              : std::accumulate(cell.counts.begin(), cell.counts.end(), 0.0) * schedule.num_ranks /
                                    static_cast<double>(cell.counts.size());
  cell.moved = elements * static_cast<double>(element_size);
  return cell;
}

double bus_factor(const Schedule& schedule) {
  const double n = schedule.num_ranks;
  switch (schedule.collective) {
    case Collective::all_reduce: return 2 * (n - 1) / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter:
    case Collective::all_gather_v:
    case Collective::reduce_scatter_v:
    case Collective::all_to_all_v:
    case Collective::gather_v:
    case Collective::scatter_v: return (n - 1) / n;
    default: return 1;
  }
}

// Sizes that hold no element are left out, and `skipped` says which.
Result<std::vector<SimulatedCell>> cells_of(const SimulateArguments& options, const fabric::Fabric& fabric,
                                            std::set<std::string>& skipped) {
  const std::uint32_t num_ranks = options.ranks.value_or(fabric.num_ranks());
  const bool has_multicast =
      std::any_of(fabric.nodes.begin(), fabric.nodes.end(), [](const fabric::Node& node) { return node.multicast; });
  const Result<std::vector<const Algorithm*>> rows = chosen(options.choice, options.filter);
  if (!rows.ok()) return rows.status();
  const Result<std::vector<Bytes>> sizes = parse_byte_list(options.bytes);
  if (!sizes.ok()) return sizes.status().with_context("--bytes");
  const Type type = *type_from_name(options.type);
  std::vector<SimulatedCell> cells;
  std::string objection;
  for (const Algorithm* algorithm : *rows) {
    if (!options.weights.empty() && !facts_of(algorithm->collective).varies) {
      objection = fmt::format("--weights: the blocks of {} do not differ in size", name_of(algorithm->collective));
      continue;
    }
    if (algorithm->channel == Channel::multicast && !has_multicast) {
      objection = fmt::format("{} needs a switch that multicasts, and {} has none", algorithm->name, fabric.name);
      continue;
    }
    const Cases cases = find_cases(*algorithm, num_ranks, options.filter);
    if (cases.requests.empty()) {
      objection = cases.objection;
      continue;
    }
    if (options.parts > 1 && algorithm->channel != Channel::message) {
      objection = fmt::format("--parts: {} is not by messages, so it is done in one part", algorithm->name);
      continue;
    }
    const Schedule schedule = side_by_side(algorithm->make(cases.requests.front()), options.parts);
    for (const Bytes size : *sizes) {
      // A barrier carries nothing, whatever the size.
      const bool is_barrier = algorithm->collective == Collective::barrier;
      if (!options.weights.empty() && has_no_weight(schedule, options.weights))
        return Status(Code::invalid_argument,
                      fmt::format("--weights: {} has {} blocks, and the first {} are 0", name_of(schedule.collective),
                                  num_size_classes(schedule), num_size_classes(schedule)));
      SimulatedCell cell = cell_of(*algorithm, schedule, is_barrier ? 0 : size.value(), type, options.weights);
      if (!is_barrier && cell.moved == 0) {
        objection = holds_no_element(size.value(), type, num_blocks(schedule.collective, num_ranks));
        skipped.insert(fmt::format("{}: {}", name_of(schedule.collective), objection));
        continue;
      }
      cells.push_back(std::move(cell));
      if (is_barrier) break;
    }
  }
  if (cells.empty()) return Status(Code::invalid_argument, objection);
  return cells;
}

std::vector<Column> columns() {
  std::vector<Column> made;
  for (const char* name : {"collective", "algorithm", "ranks", "bytes", "time_us", "algbw_gbs", "busbw_gbs", "rounds",
                           "messages", "checked"})
    made.push_back({name});
  for (const std::string_view share : simulate::kShareNames) made.push_back({fmt::format("{}_percent", share)});
  return made;
}

double rounded(double number) { return number == 0 ? 0 : std::stod(fmt::format("{:.6g}", number)); }

tutti::Cell filled(bool has_value, double number) { return has_value ? tutti::Cell(rounded(number)) : tutti::Cell(); }

Table table_of(const std::vector<Simulated>& all) {
  Table table(columns());
  for (const Simulated& one : all) {
    const simulate::Answer& answer = one.answer;
    const bool has_rate = answer.time > 0 && one.cell.schedule.collective != Collective::barrier;
    std::vector<tutti::Cell> row{std::string(name_of(one.cell.schedule.collective)), one.cell.schedule.name,
                                 std::int64_t{one.cell.schedule.num_ranks}, static_cast<std::int64_t>(one.cell.bytes),
                                 rounded(answer.time / 1e3), filled(has_rate, one.cell.moved / answer.time),
                                 filled(has_rate && one.cell.schedule.num_ranks > 1,
                                        one.cell.moved / answer.time * bus_factor(one.cell.schedule)),
                                 static_cast<std::int64_t>(answer.rounds), static_cast<std::int64_t>(answer.messages),
                                 // Of ranks that are alike one has been walked, and nothing was carried.
                                 std::string(answer.checked                                      ? "yes"
                                             : answer.ranks_walked < one.cell.schedule.num_ranks ? "alike"
                                                                                                 : "no")};
    for (int share = 0; share < simulate::kNumShares; ++share) {
      const double part = answer.shares.of(static_cast<simulate::Share>(share));
      row.emplace_back(filled(answer.time > 0, std::round(part / answer.time * 1000) / 10));
    }
    table.add_row(std::move(row));
  }
  return table;
}

// The links that were busiest, of each cell.
Table links_of(const std::vector<Simulated>& all, const fabric::Fabric& fabric, std::size_t most) {
  Table table({{"collective"},
               {"algorithm"},
               {"bytes"},
               {"link"},
               {"from"},
               {"to"},
               {"carried_bytes"},
               {"busy_us"},
               {"busy_percent"}});
  for (const Simulated& one : all) {
    const std::vector<simulate::LinkUse>& uses = one.answer.links;
    std::vector<std::size_t> order(uses.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return uses[a].busy > uses[b].busy; });
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
      const simulate::LinkUse& use = uses[order[i]];
      if (use.bytes == 0) break;
      const fabric::Link& link = fabric.links[order[i]];
      table.add_row({std::string(name_of(one.cell.schedule.collective)), one.cell.schedule.name,
                     static_cast<std::int64_t>(one.cell.bytes), static_cast<std::int64_t>(order[i]),
                     fabric.nodes[link.from].name, fabric.nodes[link.to].name,
                     static_cast<std::int64_t>(std::llround(use.bytes)), rounded(use.busy / 1e3),
                     filled(one.answer.time > 0, std::round(use.busy / one.answer.time * 1000) / 10)});
    }
  }
  return table;
}

// Of each size, the fastest against each other one of the same collective.
std::string reasons_for(const std::vector<Simulated>& all) {
  std::string text;
  for (const Simulated& one : all) {
    const Simulated* fastest = &one;
    for (const Simulated& other : all) {
      if (other.cell.bytes != one.cell.bytes || other.cell.schedule.collective != one.cell.schedule.collective)
        continue;
      if (other.answer.time < fastest->answer.time) fastest = &other;
    }
    if (fastest == &one) continue;
    text += fmt::format(
        "{}, {}: {}\n", name_of(one.cell.schedule.collective), to_text(Bytes(one.cell.bytes)),
        simulate::why_faster({fastest->cell.schedule.name, fastest->answer}, {one.cell.schedule.name, one.answer}));
  }
  return text.empty() ? "there is nothing to compare: name several algorithms\n" : text;
}

Status check(const SimulateArguments& options) {
  if (!same_name(options.sharing, "queueing") && !same_name(options.sharing, "fair"))
    return {Code::invalid_argument, fmt::format("--sharing: {} is not queueing or fair", in_quotes(options.sharing))};
  if (!type_from_name(options.type))
    return {Code::invalid_argument, fmt::format("--type: {} is no type, like f32", in_quotes(options.type))};
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
  return {};
}

Status check_outputs(const SimulateArguments& options) {
  TUTTI_TRY(check_output(options.output));
  if (options.timeline.empty()) return {};
  const OutputOptions timeline{.path = options.timeline, .option = "--timeline"};
  TUTTI_TRY(check_output(timeline));
  if (are_one_file(timeline, options.output))
    return wrong_argument(fmt::format("--timeline and -o are both {}; give two files", in_quotes(options.timeline)));
  return {};
}

// What could not be done goes to `failed`.
Result<std::vector<Simulated>> simulate_all(const SimulateArguments& options, const fabric::Fabric& fabric,
                                            simulate::Recorder* recorder, std::vector<Status>& failed,
                                            std::set<std::string>& skipped) {
  const Result<std::vector<SimulatedCell>> cells = cells_of(options, fabric, skipped);
  if (!cells.ok()) return cells.status();
  if (recorder != nullptr && cells->size() != 1)
    return Status(Code::invalid_argument,
                  fmt::format("{}: it is of one algorithm with one size, and this is {} cells",
                              options.transcript ? "--transcript" : "--timeline", cells->size()));
  std::vector<Simulated> all;
  for (const SimulatedCell& cell : *cells) {
    Result<simulate::Answer> answer = simulate::simulate(
        cell.schedule, fabric,
        {.count = cell.count,
         .counts = cell.counts,
         .element_size = size_of(*type_from_name(options.type)),
         .sharing = same_name(options.sharing, "fair") ? simulate::Sharing::fair : simulate::Sharing::queueing,
         .staged = cell.algorithm->channel == Channel::staged,
         .recorder = recorder});
    if (!answer.ok()) {
      failed.push_back(answer.status());
      continue;
    }
    // There may be many rows, and each would keep all its links.
    if (options.links == 0) answer->links = {};
    answer->rank_times = {};
    all.push_back({cell, *std::move(answer)});
  }
  return all;
}

Exit run(const SimulateArguments& options, const Context& context) {
  const auto misused = [&](const Status& status) {
    context.error << "tutti simulate: " << status.to_string() << "\n";
    return Exit::misused;
  };
  if (options.against.empty() == options.fabric.empty())
    return misused({Code::invalid_argument,
                    options.fabric.empty() ? "--fabric: say which machine, or --against which figures"
                                           : "--against: its figures say on which fabric they are; leave --fabric"});
  if (!options.against.empty()) {
    if (const Status status = check_output(options.output); !status.ok()) return misused(status);
    const Result<std::string> text = against(options.against, options.output);
    if (!text.ok()) return misused(text.status().with_context("--against"));
    const Status status = write_output(*text, options.output, context);
    return status.ok() ? Exit::done : misused(status);
  }
  if (const Status status = check(options); !status.ok()) return misused(status);
  if (const Status status = check_outputs(options); !status.ok()) return misused(status);
  const Result<fabric::Fabric> fabric = fabric::load_fabric(options.fabric);
  if (!fabric.ok()) return misused(fabric.status().with_context("--fabric"));
  if (options.ranks && *options.ranks > fabric->num_ranks())
    return misused({Code::invalid_argument, fmt::format("--ranks: {} has {}", fabric->name, fabric->num_ranks())});
  simulate::Timeline timeline;
  simulate::Transcript transcript(*fabric);
  simulate::Recorder* const recorder = options.transcript         ? static_cast<simulate::Recorder*>(&transcript)
                                       : options.timeline.empty() ? nullptr
                                                                  : &timeline;
  std::vector<Status> failed;
  std::set<std::string> skipped;
  const Result<std::vector<Simulated>> all = simulate_all(options, *fabric, recorder, failed, skipped);
  if (!all.ok()) return misused(all.status());
  for (const std::string& words : skipped) context.error << "tutti simulate: skipped " << words << "\n";
  for (const Status& status : failed) context.error << "tutti simulate: " << status.to_string() << "\n";
  // What the fabric cannot do has been said, and is nobody's mistake, as long as there is anything else to tell.
  const bool all_right = std::all_of(failed.begin(), failed.end(),
                                     [](const Status& status) { return status.code() == Code::unsupported; });
  if (all->empty()) return all_right ? Exit::misused : Exit::found_wrong;
  if (!options.timeline.empty()) {
    const Status status = write_output(timeline.to_json(), {.path = options.timeline, .option = "--timeline"}, context);
    if (!status.ok()) return misused(status);
  }
  const std::string text = options.why          ? reasons_for(*all)
                           : options.transcript ? transcript.text()
                           : options.links > 0  ? rendered(links_of(*all, *fabric, options.links), options.output)
                                                : rendered(table_of(*all), options.output);
  if (const Status status = write_output(text, options.output, context); !status.ok()) return misused(status);
  return all_right ? Exit::done : Exit::found_wrong;
}

Run define_simulate(CLI::App& app) {
  const auto options = std::make_shared<SimulateArguments>();  // shared with the closure, which std::function copies
  app.add_option("--fabric", options->fabric, "The machine: torus_2d:2x3, switch:8, a file (see tutti list fabrics)")
      ->type_name("FABRIC");
  app.add_option("--against", options->against,
                 "Instead: a file of published figures, each beside what is simulated in its place, and the score")
      ->type_name("FILE")
      ->check([](const std::string& text) { return std::string(text.empty() ? "'' is not a file" : ""); });
  add_choice_options(app, options->choice);
  app.add_option_function<std::string>(
         "--ranks",
         [options](const std::string& text) {
           options->ranks = read_number<std::uint32_t>(text, 1, kMostSimulated);
           if (!options->ranks) refuse_option("--ranks", text, fmt::format("1 to {}", kMostSimulated));
         },
         "The first N of the fabric's ranks (else all)")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--parts",
         [options](const std::string& text) {
           const auto number = read_number<std::uint32_t>(text, 1, kMostParts);
           if (!number) refuse_option("--parts", text, fmt::format("1 to {}", kMostParts));
           options->parts = *number;
         },
         "Do it in N parts side by side, as in NCCL's channels: for algorithms by messages (else 1)")
      ->type_name("N");
  add_case_options(app, options->filter, CaseUse::first);
  app.add_option("--bytes", options->bytes, "Sizes, as nccl-tests means them: 8, 4K, 8:64M:x4")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--type", options->type, "The elements' type")->type_name("TYPE")->capture_default_str();
  app.add_option_function<std::string>(
         "--weights",
         [options](const std::string& text) {
           options->weights.clear();
           for (const std::string_view part : split(text, ',')) {
             const auto weight = read_number<std::uint32_t>(part, 0, kMostWeight);
             if (!weight) refuse_option("--weights", text, "a list of numbers up to 1000000, like 1,0,3");
             options->weights.push_back(*weight);
           }
         },
         "How the bytes of all_gather_v and its like go to blocks, over and over (else alike): 1,0,3")
      ->type_name("LIST");
  app.add_option("--sharing", options->sharing,
                 "How messages share a link: queueing (one after another), or fair (max-min)")
      ->type_name("HOW")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--links",
         [options](const std::string& text) {
           const auto number = read_number<std::uint32_t>(text, 1, kMostLinks);
           if (!number) refuse_option("--links", text, fmt::format("1 to {}", kMostLinks));
           options->links = *number;
         },
         "Instead: the N busiest links of each row")
      ->type_name("N");
  app.add_flag("--why", options->why, "Instead: of each size, why the fastest is faster than the others");
  app.add_flag("--transcript", options->transcript,
               "Instead: what happens when, in words, event by event; of one algorithm with one size");
  app.add_option("--timeline", options->timeline, "Also: what happens when, for Chrome's about:tracing or Perfetto")
      ->type_name("FILE");
  add_output_options(app, options->output);
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command simulate_command() {
  return {
      .name = "simulate",
      .summary = "Tell how long algorithms would take on a fabric, and where the time would go",
      .examples =
          "tutti simulate --fabric torus_2d:4x4 --collective all_reduce --bytes 1M\n"
          "tutti simulate --fabric switch:8 --algorithm ring --collective all_reduce --bytes 8:64M:x4 --format csv\n"
          "tutti simulate --fabric ring_1d:16 --collective all_reduce --bytes 1M --why\n"
          "tutti simulate --against data/references/vllm_all_reduce.toml\n"
          "tutti simulate --fabric ring_1d:3 --collective all_reduce --algorithm ring --bytes 12 --transcript\n"
          "tutti simulate --fabric switch:8 --collective all_to_all_v --bytes 1M --weights 1,0,0,5",
      .define = define_simulate};
}

}  // namespace tutti::cli
