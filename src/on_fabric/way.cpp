// SPDX-License-Identifier: Apache-2.0
#include "on_fabric/way.hpp"

#include <utility>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "fabric/files/fabric_file.hpp"
#include "fabric/files/load.hpp"
#include "fabric/generators/generate.hpp"
#include "fabric/generators/request.hpp"
#include "runtime/bootstrap/rendezvous.hpp"
#include "runtime/selection/portfolio.hpp"
#include "runtime/selection/profile_file.hpp"
#include "runtime/selection/selector.hpp"
#include "runtime/selection/table_choice.hpp"

namespace tutti::on_fabric {

// Plans of many ranks take longer than simulating them.
struct WayChooser::Known {
  Known(const shm::RegionShape& given_shape, const Settings& settings)
      : shape(given_shape),
        both_ways(settings.ring_bidir_ag_max_size),
        profile(settings.profile.profile->for_caches(settings.caches)),
        portfolio(0, shape),
        selector(portfolio, shape.num_ranks) {
    selector.gather_both_ways_up_to(both_ways);
    selector.decide_by(profile.rules, 0);
  }
  shm::RegionShape shape;
  std::optional<std::uint64_t> both_ways;  // up to so many bytes
  MachineProfile profile;
  Portfolio portfolio;
  Selector selector;
  // The last schedule from a file, and what tells it apart.
  std::string file;
  Result<OwnAlgorithm> own = Status(Code::internal, "there was none");
};

namespace {

constexpr std::string_view kRing = "ring";
constexpr std::string_view kBothWays = "ring_bidir_ag";

std::string forced_against(std::uint32_t num_ranks, std::string_view against) {
  if (num_ranks > kMostRanksOnHost)
    return fmt::format("forced, which the library would not follow: {} ranks are the most on a host", kMostRanksOnHost);
  return against.empty() ? std::string("forced")
                         : fmt::format("forced, which the library would not follow: {}", against);
}

ChosenWay way_of(const Algorithm& algorithm, Request request, const Call& asked, std::string why) {
  request.root = asked.root;
  const bool by_name = asked.symmetric && (asked.in_place ? algorithm.name_safe_in_place : algorithm.name_safe);
  return {.schedule = algorithm.make(request),
          .algorithm = std::string(algorithm.name),
          .staged = algorithm.channel == Channel::staged && !by_name,
          .by_name = algorithm.channel == Channel::staged && by_name,
          .why = std::move(why),
          .needs_symmetric = algorithm.channel == Channel::symmetric && !algorithm.name_safe};
}

Result<ChosenWay> own(const OwnAlgorithm& own, const Call& asked, const CallFacts& call) {
  if (own.demands.root && *own.demands.root != asked.root)
    return not_here(fmt::format("{} is for root {}", own.schedule.name, *own.demands.root));
  Way way;
  way.collective = asked.collective;
  way.demands = own.demands;
  return ChosenWay{.schedule = own.schedule,
                   .algorithm = "",
                   .staged = !own.demands.opens,
                   .why = forced_against(own.schedule.num_ranks, objection_to(way, call)),
                   .is_forced = true,
                   .needs_symmetric = own.demands.opens};
}

Result<ChosenWay> named(std::string_view name, const Call& asked, const fabric::Fabric& fabric, std::uint32_t num_ranks,
                        const CallFacts& call, Portfolio& portfolio) {
  TUTTI_TRY_ASSIGN(const NamedAlgorithm found,
                   find_by_full_name(asked.collective, name, num_ranks, fabric.grid_of(num_ranks)));
  std::string_view against;
  if (num_ranks <= kMostRanksOnHost)
    // A portfolio may be full, which takes nothing from the simulation.
    if (const Result<Way*> known = portfolio.find(asked.collective, name); known.ok())
      against = objection_to(**known, call);
  ChosenWay way = way_of(*found.algorithm, found.request, asked, forced_against(num_ranks, against));
  way.is_forced = true;
  return way;
}

// TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE decides between the two rings, as in the library.
std::string_view ring_or(std::string_view name, const Call& asked, const std::optional<std::uint64_t>& both_ways) {
  if (!both_ways || asked.collective != Collective::all_reduce || (name != kRing && name != kBothWays)) return name;
  return asked.message_bytes <= *both_ways ? kBothWays : kRing;
}

struct OfTable {
  std::optional<ChosenWay> way;  // nothing: the rules decide
  std::string unfollowed = {};   // what of the table cannot be followed, and why
};

// Starts at the range of the call's size in the nearest section, and takes the first whose way can do the call.
OfTable by_table(const DecisionTable& table, const Call& asked, const fabric::Fabric& fabric, std::uint32_t num_ranks,
                 const std::optional<std::uint64_t>& both_ways) {
  const std::optional<TableAnswer> answer =
      find_section(table, {.collective = asked.collective,
                           .ranks = num_ranks,
                           .memory = asked.symmetric ? TableMemory::symmetric : TableMemory::ordinary,
                           .types = asked.types});
  OfTable found;
  if (!answer) {
    found.unfollowed = fmt::format("{} has no section for this call", table.title());
    return found;
  }
  for (const TableRange& range : answer->section->ranges) {
    if (range.most_bytes < asked.message_bytes) continue;
    if (range.way.algorithm.empty()) return found;
    const std::string_view name = ring_or(range.way.algorithm, asked, both_ways);
    const std::string place = fmt::format("{}:{}", table.title(), range.line);
    const Result<NamedAlgorithm> named =
        find_by_full_name(asked.collective, name, num_ranks, fabric.grid_of(num_ranks));
    // A section for another number of ranks may name an algorithm that does not exist for this one.
    if (!named.ok()) continue;
    ChosenWay way = way_of(*named->algorithm, named->request, asked, place);
    if (const std::string against = objection_to(way, asked); !against.empty()) {
      if (found.unfollowed.empty())
        found.unfollowed = fmt::format("{} ({}) cannot be followed: it {}", name, place, against);
      continue;
    }
    way.is_of_ring_variable = name != range.way.algorithm;
    way.is_of_table = !way.is_of_ring_variable;
    if (way.is_of_ring_variable)
      way.why = fmt::format("by {}", row_of(VariableId::ring_bidir_ag_max_size).name);
    else if (!answer->is_exact)
      way.why += fmt::format(", tuned with {} ranks", answer->section->ranks);
    if (!found.unfollowed.empty()) way.why += fmt::format("; {}", found.unfollowed);
    way.unfollowed = found.unfollowed;
    found.way = std::move(way);
    return found;
  }
  return found;
}

Result<ChosenWay> by_size(const Call& asked, const CallFacts& call, Selector& selector) {
  TUTTI_TRY_ASSIGN(const Choice choice, selector.choose(asked.collective, asked.message_bytes, call));
  ChosenWay way = way_of(*choice.way->algorithm, choice.way->request, asked, std::string(choice.why));
  if (choice.unfollowed == nullptr) return way;
  way.unfollowed = fmt::format("{} cannot be followed: {}", choice.unfollowed->name, choice.why);
  way.why = fmt::format("by size; {}", way.unfollowed);
  return way;
}

std::string fingerprint_of(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

}  // namespace

Result<Settings> settings_on(const fabric::Fabric& fabric, std::uint64_t digest, const Variables& variables) {
  Settings settings = Settings::from(variables);
  settings.table = choose_fabric_table(variables.text(VariableId::table), fingerprint_of(digest));
  if (!settings.table.unread.ok()) return settings.table.unread;
  // The profile without the changes that this machine's table makes to it.
  const std::string named = variables.text(VariableId::profile);
  if (!same_name(named, kAutomaticProfile)) {
    settings.use_profile(choose_profile(named));
  } else {
    Result<MachineProfile> profile = find_shipped_profile(fabric.profile);
    if (!profile.ok()) return wrong_argument(fmt::format("fabric {}: {}", fabric.name, profile.status().message()));
    settings.use_profile({.profile = std::make_shared<const MachineProfile>(std::move(*profile)),
                          .why = fmt::format("fabric {} names it", fabric.name)});
  }
  if (!settings.profile.unread.ok()) return settings.profile.unread;
  settings.caches = CacheSizes();
  return settings;
}

std::uint64_t digest_of(std::string_view words, const fabric::Fabric& fabric) {
  const Result<fabric::Request> request = fabric::parse_request(words);
  const bool is_generated = request.ok() && fabric::find_generator(request->kind) != nullptr;
  return digest(is_generated ? request->text : fabric::write_fabric(fabric));
}

std::string fingerprint_of(std::string_view words, const fabric::Fabric& fabric) {
  return fingerprint_of(digest_of(words, fabric));
}

Result<TableChoice> table_of_named_fabric(const Variables& variables) {
  const std::string named = variables.text(VariableId::fabric);
  if (!named.starts_with(kFabricPeers)) return TableChoice();
  const std::string_view words = std::string_view(named).substr(kFabricPeers.size());
  TUTTI_TRY_ASSIGN(const fabric::Fabric fabric, fabric::load_fabric(words));
  return choose_fabric_table(variables.text(VariableId::table), fingerprint_of(words, fabric));
}

std::string objection_to(const ChosenWay& way, const Call& asked) {
  if (way.needs_symmetric && !asked.symmetric) return "needs both buffers in symmetric memory";
  if (!(asked.in_place ? way.schedule.allows_in_place : way.schedule.allows_out_of_place))
    return fmt::format("is not for calls {} place", asked.in_place ? "in" : "out of");
  return "";
}

WayChooser::WayChooser() = default;
WayChooser::~WayChooser() = default;

void WayChooser::forget() { known_.reset(); }

Result<ChosenWay> WayChooser::choose(const Call& asked, const fabric::Fabric& fabric, std::uint32_t num_ranks,
                                     const Settings& settings, const std::function<bool()>& is_interrupted) {
  // Taken out, and put back when all has gone well: what an interrupt refuses, or want of memory leaves half done, is
  // no finding.
  std::unique_ptr<Known> known = std::exchange(known_, nullptr);
  const shm::RegionShape shape = settings.region_for(num_ranks);
  if (known == nullptr || known->shape != shape || known->both_ways != settings.ring_bidir_ag_max_size ||
      known->profile.digest != settings.profile.profile->digest)
    known = std::make_unique<Known>(shape, settings);
  known->portfolio.end_when(is_interrupted);
  // That the system may copy keeps nothing from being forced; by size, what it copies is not simulated.
  const CallFacts call{
      .symmetric = asked.symmetric, .can_store_attached = true, .in_place = asked.in_place, .root = asked.root};
  const ForcedAlgorithm& forced = settings.forced_of(asked.collective);
  Result<ChosenWay> way = [&]() -> Result<ChosenWay> {
    if (!forced.file && !forced.name.empty())
      return named(forced.name, asked, fabric, num_ranks, call, known->portfolio);
    if (!forced.file) {
      const bool is_always_ring = asked.collective == Collective::all_reduce && known->both_ways == kAnySize;
      if (settings.table.table == nullptr || is_always_ring) return by_size(asked, call, known->selector);
      OfTable found = by_table(*settings.table.table, asked, fabric, num_ranks, known->both_ways);
      if (found.way) return *std::move(found.way);
      Result<ChosenWay> sized = by_size(asked, call, known->selector);
      if (sized.ok() && !found.unfollowed.empty()) sized->why += fmt::format("; {}", found.unfollowed);
      return sized;
    }
    if (!forced.file->unread.ok()) return forced.file->unread;
    if (std::string file = fmt::format("{} {}", name_of(asked.collective), forced.file->agreement());
        file != known->file) {
      known->own = own_algorithm(*forced.file, asked.collective, shape);
      known->file = std::move(file);
    }
    if (!known->own.ok()) return known->own.status();
    return own(*known->own, asked, call);
  }();
  known->portfolio.end_when(nullptr);
  if (!is_interrupted || !is_interrupted()) known_ = std::move(known);
  return way;
}

}  // namespace tutti::on_fabric
