// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/simulate_cells.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "data/message_size.hpp"
#include "data/no_element.hpp"
#include "data/type.hpp"
#include "fabric/costs.hpp"
#include "schedule/prove/definition.hpp"
#include "schedule/prove/side_by_side.hpp"

namespace tutti::cli {

namespace {

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

SimulatedCell cell_of(const Schedule& schedule, std::uint64_t bytes, Type type,
                      const std::vector<std::uint32_t>& weights) {
  SimulatedCell cell;
  cell.schedule = schedule;
  cell.bytes = bytes;
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

// The algorithms of each reason for leaving them out, in the order of the table.
class WithoutGrid {
 public:
  void add(const Algorithm& algorithm, const std::string& objection) {
    std::string& names = names_[objection];
    names += fmt::format("{}{}", names.empty() ? "" : ", ", algorithm.name);
  }
  void tell(std::set<std::string>& skipped) const {
    for (const auto& [objection, names] : names_) skipped.insert(fmt::format("{}: {}", names, objection));
  }

 private:
  std::map<std::string, std::string> names_;
};

// The algorithm's first case, on the fabric's grid where none is asked for.
Cases first_case(const Algorithm& algorithm, const CellOptions& options, const fabric::Fabric& fabric,
                 std::uint32_t num_ranks) {
  CaseFilter filter = options.filter;
  filter.machine_grid = fabric.grid_of(num_ranks);
  Cases cases = find_cases(algorithm, num_ranks, filter);
  if (!cases.lacks_grid) return cases;
  const Algorithm* const inner = filter.inner ? find_algorithm(algorithm.collective, *filter.inner) : nullptr;
  const Takes& takes = inner == nullptr ? algorithm.takes : inner->takes;
  cases.objection += fmt::format("; say --grid {}", form_of_grid(takes));
  return cases;
}

// What is simulated with every size.
struct Source {
  Schedule schedule;
  fabric::Way way;
  bool staged = false;
  std::string implementation = {};
};

// As the options say.
fabric::Way way_of(const CellOptions& options, std::string algorithm) {
  return {.algorithm = std::move(algorithm),
          .parts = options.parts,
          .copies = options.copies.whole,
          .part_copies = options.copies.parts,
          .by_name = options.by_name};
}

// Whether others read copies of what is exposed, as where nothing is stored in their memory.
bool is_staged(const Schedule& schedule) {
  for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
    Walk walk = schedule.walk(0, lane);
    while (const Step* step = walk.next())
      if (step->kind == StepKind::open || is_multicast(*step)) return false;
  }
  return true;
}

bool is_by_messages(const Schedule& schedule) {
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank)
    for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
      Walk walk = schedule.walk(rank, lane);
      while (const Step* step = walk.next())
        if (step->kind != StepKind::combine || is_direct(*step)) return false;
    }
  return true;
}

Result<std::vector<Source>> sources_of_files(const CellOptions& options, const fabric::Fabric& fabric) {
  std::vector<Source> sources;
  for (std::size_t each = 0; each < options.schedules.size(); ++each) {
    const std::string& path = options.files[each];
    const Schedule& schedule = options.schedules[each];
    if (schedule.num_ranks > fabric.num_ranks())
      return Status(Code::invalid_argument,
                    fmt::format("--file: {} is for {}, and {} has {}", in_quotes(path),
                                counted(schedule.num_ranks, "rank"), fabric.name, fabric.num_ranks()));
    if (options.parts > 1 && !is_by_messages(schedule))
      return Status(Code::invalid_argument, fmt::format("--parts: {} is not by messages", in_quotes(path)));
    if (!options.weights.empty() && !facts_of(schedule.collective).varies)
      return Status(Code::invalid_argument,
                    fmt::format("--weights: the blocks of {} do not differ in size", name_of(schedule.collective)));
    const bool staged = is_staged(schedule);
    // A file's own name says nothing of what it does.
    sources.push_back({side_by_side(schedule, options.parts), way_of(options, ""), staged});
  }
  return sources;
}

// Why those that are left out are goes to `objection`.
Result<std::vector<Source>> sources_of_algorithms(const CellOptions& options, const fabric::Fabric& fabric,
                                                  std::set<std::string>& skipped, std::string& objection) {
  const std::uint32_t num_ranks = options.ranks.value_or(fabric.num_ranks());
  const bool has_multicast =
      std::any_of(fabric.nodes.begin(), fabric.nodes.end(), [](const fabric::Node& node) { return node.multicast; });
  TUTTI_TRY_ASSIGN(const std::vector<const Algorithm*> rows, chosen(options.choice, options.filter));
  std::vector<Source> sources;
  WithoutGrid without_grid;
  for (const Algorithm* algorithm : rows) {
    if (!options.weights.empty() && !facts_of(algorithm->collective).varies) {
      objection = fmt::format("--weights: the blocks of {} do not differ in size", name_of(algorithm->collective));
      continue;
    }
    if (algorithm->channel == Channel::multicast && !has_multicast) {
      objection = fmt::format("{} needs a switch that multicasts, and {} has none", algorithm->name, fabric.name);
      continue;
    }
    if (options.by_name && !algorithm->name_safe) {
      objection = fmt::format("--by-name: {} is not right by name", algorithm->name);
      continue;
    }
    const Cases cases = first_case(*algorithm, options, fabric, num_ranks);
    if (cases.requests.empty()) {
      objection = cases.objection;
      if (cases.lacks_grid) without_grid.add(*algorithm, objection);
      continue;
    }
    if (options.parts > 1 && algorithm->channel != Channel::message) {
      objection = fmt::format("--parts: {} is not by messages, so it is done in one part", algorithm->name);
      continue;
    }
    sources.push_back({side_by_side(algorithm->make(cases.requests.front()), options.parts),
                       way_of(options, std::string(algorithm->name)),
                       algorithm->channel == Channel::staged && !options.by_name});
  }
  if (!sources.empty()) without_grid.tell(skipped);
  return sources;
}

// The implementations that are asked for; those of other collectives are not meant by `all`.
Result<std::vector<const fabric::Implementation*>> chosen_implementations(const CellOptions& options,
                                                                          const fabric::Fabric& fabric) {
  if (!options.choice.collective.empty() && !find_collective(options.choice.collective))
    return chosen(options.choice, options.filter).status();
  std::vector<const fabric::Implementation*> meant;
  for (const std::string& asked : options.implementations) {
    const bool is_all = same_name(asked, "all");
    const std::size_t before = meant.size();
    std::string names;
    std::string of_others;  // the collectives that it does instead
    for (const fabric::Implementation& each : fabric.implementations) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
      if (!is_all && !same_name(each.name, asked)) continue;
      if (options.choice.collective.empty() || same_name(each.collective, options.choice.collective)) {
        meant.push_back(&each);
      } else if (!is_all) {
        of_others += fmt::format("{}{}", of_others.empty() ? "" : ", ", each.collective);
      }
    }
    if (meant.size() == before && !of_others.empty())
      return wrong_argument(
          fmt::format("--implementation: {} does {}, not {}", in_quotes(asked), of_others, options.choice.collective));
    if (meant.size() > before) continue;
    if (names.empty()) return wrong_argument(fmt::format("--implementation: {} names no implementations", fabric.name));
    if (is_all)
      return wrong_argument(fmt::format("--implementation: {} has none for {}; it has {}", fabric.name,
                                        options.choice.collective, names));
    return wrong_argument(
        fmt::format("--implementation: {} has no {}; it has {}", fabric.name, in_quotes(asked), names));
  }
  return meant;
}

// The way's schedule. Code::unsupported: not with so many ranks.
Result<Source> source_of_way(const CellOptions& options, const fabric::Fabric& fabric,
                             const fabric::Implementation& implementation, const fabric::Way& way) {
  const std::uint32_t num_ranks = options.ranks.value_or(fabric.num_ranks());
  const std::optional<Collective> collective = find_collective(implementation.collective);
  if (!collective) return wrong_argument(fmt::format("{} is no collective", in_quotes(implementation.collective)));
  if (num_ranks < way.from_ranks)
    return Status(Code::unsupported, fmt::format("{} is for {} ranks or more, and there are {}", way.algorithm,
                                                 way.from_ranks, num_ranks));
  TUTTI_TRY_ASSIGN(NamedAlgorithm named,
                   find_by_full_name(*collective, way.algorithm, num_ranks, fabric.grid_of(num_ranks)));
  const Algorithm& algorithm = *named.algorithm;
  if (way.parts > 1 && algorithm.channel != Channel::message)
    return wrong_argument(fmt::format("{} sends no messages; leave out parts", algorithm.name));
  if (way.by_name && !algorithm.name_safe)
    return wrong_argument(fmt::format("{} is not right by name; leave out by_name", algorithm.name));
  const bool by_messages = algorithm.channel == Channel::message;
  for (const fabric::Costs& costs : fabric.costs)
    if (same_name(costs.name, way.costs) && costs.channels != fabric::Channels::all &&
        (costs.channels == fabric::Channels::messages) != by_messages)
      return wrong_argument(fmt::format("the costs {} are not those of {}, which {}", costs.name, algorithm.name,
                                        by_messages ? "sends messages" : "loads and stores"));
  if (options.filter.root && !facts_of(*collective).has_root)
    return wrong_argument(fmt::format("--root: {} has none", name_of(*collective)));
  if (facts_of(*collective).has_root) named.request.root = options.filter.root.value_or(0);
  if (const std::string objection = objection_to(algorithm, named.request); !objection.empty())
    return Status(Code::unsupported, objection);
  fabric::Way done = way;
  done.algorithm = algorithm.name;
  return Source{side_by_side(algorithm.make(named.request), way.parts), std::move(done),
                algorithm.channel == Channel::staged && !way.by_name, implementation.name};
}

// Each of their ways that there is for so many ranks; why others are left out goes to `objection`.
Result<std::vector<Source>> sources_of_implementations(const CellOptions& options, const fabric::Fabric& fabric,
                                                       std::string& objection) {
  TUTTI_TRY_ASSIGN(const auto implementations, chosen_implementations(options, fabric));
  std::vector<Source> sources;
  for (const fabric::Implementation* each : implementations)
    for (const fabric::Way& way : each->ways) {
      Result<Source> source = source_of_way(options, fabric, *each, way);
      if (source.ok()) {
        sources.push_back(*std::move(source));
        continue;
      }
      const Status status = source.status().with_context(fmt::format("{}, implementation {}", fabric.name, each->name));
      if (status.code() != Code::unsupported) return status;
      objection = status.to_string();
    }
  return sources;
}

Result<std::vector<Source>> sources_of(const CellOptions& options, const fabric::Fabric& fabric,
                                       std::set<std::string>& skipped, std::string& objection) {
  if (!options.files.empty()) return sources_of_files(options, fabric);
  TUTTI_TRY_ASSIGN(std::vector<Source> sources, sources_of_implementations(options, fabric, objection));
  if (!options.implementations.empty() && options.choice.algorithm.empty()) return sources;
  TUTTI_TRY_ASSIGN(std::vector<Source> others, sources_of_algorithms(options, fabric, skipped, objection));
  // An algorithm by itself would be an error.
  if (!sources.empty() && others.empty()) skipped.insert(objection);
  std::move(sources.begin(), sources.end(), std::back_inserter(others));
  return others;
}

// The sizes for which an implementation has no way.
Status tell_missing(const CellOptions& options, const fabric::Fabric& fabric, const std::vector<Bytes>& sizes,
                    const std::vector<SimulatedCell>& cells, std::set<std::string>& skipped, std::string& objection) {
  TUTTI_TRY_ASSIGN(const auto implementations, chosen_implementations(options, fabric));
  for (const fabric::Implementation* each : implementations)
    for (const Bytes size : sizes) {
      const auto is_it = [&](const SimulatedCell& cell) {
        return cell.implementation == each->name && name_of(cell.schedule.collective) == each->collective &&
               (cell.bytes == size.value() || cell.schedule.collective == Collective::barrier);
      };
      if (std::any_of(cells.begin(), cells.end(), is_it)) continue;
      const std::string words = fmt::format("{}: {} has no way for {} with {}", fabric.name, each->name, to_text(size),
                                            counted(options.ranks.value_or(fabric.num_ranks()), "rank"));
      skipped.insert(words);
      if (objection.empty()) objection = words;
    }
  return {};
}

}  // namespace

Result<std::vector<SimulatedCell>> cells_of(const CellOptions& options, const fabric::Fabric& fabric,
                                            std::set<std::string>& skipped) {
  const Result<std::vector<Bytes>> sizes = parse_byte_list(options.bytes);
  if (!sizes.ok()) return sizes.status().with_context("--bytes");
  const std::optional<Type> type = type_from_name(options.type);
  if (!type)
    return Status(Code::invalid_argument, fmt::format("--type: {} is not a type; the types are: {}",
                                                      in_quotes(options.type), all_type_names()));
  std::string objection;
  TUTTI_TRY_ASSIGN(const std::vector<Source> sources, sources_of(options, fabric, skipped, objection));
  std::vector<SimulatedCell> cells;
  for (const Source& source : sources) {
    const Schedule& schedule = source.schedule;
    for (const Bytes size : *sizes) {
      // A barrier carries nothing, whatever the size.
      const bool is_barrier = schedule.collective == Collective::barrier;
      if (source.way.above > 0 && size.value() <= source.way.above) continue;
      if (!options.weights.empty() && has_no_weight(schedule, options.weights))
        return Status(Code::invalid_argument,
                      fmt::format("--weights: {} has {} blocks, and the first {} are 0", name_of(schedule.collective),
                                  num_size_classes(schedule), num_size_classes(schedule)));
      SimulatedCell cell = cell_of(schedule, is_barrier ? 0 : size.value(), *type, options.weights);
      cell.implementation = source.implementation;
      cell.way = source.way;
      cell.staged = source.staged;
      if (!is_barrier && cell.moved == 0) {
        objection = holds_no_element(size.value(), *type, num_blocks(schedule.collective, schedule.num_ranks));
        skipped.insert(fmt::format("{}: {}", name_of(schedule.collective), objection));
        continue;
      }
      cells.push_back(std::move(cell));
      if (is_barrier) break;
    }
  }
  if (!options.implementations.empty()) TUTTI_TRY(tell_missing(options, fabric, *sizes, cells, skipped, objection));
  if (cells.empty()) return Status(Code::invalid_argument, objection);
  return cells;
}

Result<std::vector<SimulatedCell>> cell_by_name(const CellOptions& options, const WorkloadEntry& entry,
                                                const fabric::Fabric& fabric) {
  const std::uint32_t num_ranks = options.ranks.value_or(fabric.num_ranks());
  TUTTI_TRY_ASSIGN(NamedAlgorithm named,
                   find_by_full_name(entry.collective, entry.algorithm, num_ranks, fabric.grid_of(num_ranks)));
  named.request.root = entry.root;
  if (const std::string objection = objection_to(*named.algorithm, named.request); !objection.empty())
    return wrong_argument(objection);
  SimulatedCell cell = cell_of(named.algorithm->make(named.request), entry.bytes, entry.type, {});
  cell.way = way_of(options, std::string(named.algorithm->name));
  cell.staged = named.algorithm->channel == Channel::staged && !options.by_name;
  return std::vector{std::move(cell)};
}

Result<Simulated> simulate_cell(const CellOptions& options, const std::string& asked, const SimulatedCell& cell,
                                const fabric::Fabric& fabric, simulate::Recorder* recorder,
                                const std::optional<simulate::Corrections>& corrections) {
  const fabric::Way& way = cell.way;
  std::optional<fabric::Fabric> changed;
  if (!way.costs.empty()) TUTTI_TRY(fabric::choose_costs(way.costs, changed.emplace(fabric)));
  const simulate::OwnCopies copies = {.whole = way.copies, .parts = way.part_copies};
  TUTTI_TRY_ASSIGN(simulate::Answer answer,
                   simulate::simulate_with_copies(cell.schedule, changed ? *changed : fabric,
                                                  {.count = cell.count,
                                                   .counts = cell.counts,
                                                   .element_size = size_of(*type_from_name(options.type)),
                                                   .staged = cell.staged,
                                                   .recorder = recorder,
                                                   .own_costs = !way.costs.empty()},
                                                  copies));
  if (!way.costs.empty()) answer.costs = way.costs;
  Simulated one{asked, cell, std::move(answer), {}};
  // What is published is of the costs that schedules of such channels have.
  if (corrections && way.costs.empty())
    one.correction = corrections->find({.fabric = asked,
                                        .collective = cell.schedule.collective,
                                        .algorithm = way.algorithm,
                                        .parts = way.parts,
                                        .copies = copies,
                                        .by_name = way.by_name,
                                        .is_compiled = is_compiled_for(fabric, way.algorithm, cell.schedule.num_ranks),
                                        .ranks = cell.schedule.num_ranks,
                                        .bytes = cell.bytes});
  return one;
}

}  // namespace tutti::cli
