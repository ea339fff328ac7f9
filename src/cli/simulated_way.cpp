#include "cli/simulated_way.hpp"

#include <utility>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "runtime/portfolio.hpp"
#include "runtime/rendezvous.hpp"
#include "runtime/selector.hpp"
#include "runtime/settings.hpp"

namespace tutti::cli {

// Plans of thousands of ranks take longer than simulating them.
struct WayChooser::Known {
  Known(std::string given_key, const Settings& settings, std::uint32_t num_ranks)
      : key(std::move(given_key)), portfolio(0, settings.region_for(num_ranks)), selector(portfolio, num_ranks) {
    selector.gather_both_ways_up_to(settings.ring_bidir_ag_max_size);
  }
  std::string key;
  Portfolio portfolio;
  Selector selector;
};

namespace {

constexpr std::string_view kForced = "forced";

std::string forced_against(std::string_view against) {
  return against.empty() ? std::string(kForced)
                         : fmt::format("{}; on this host the library would not: {}", kForced, against);
}

SimulatedWay way_of(const Algorithm& algorithm, Request request, const SimulatedCase& asked, bool symmetric,
                    std::string why) {
  request.root = asked.root;
  const bool by_name = symmetric && (asked.in_place ? algorithm.name_safe_in_place : algorithm.name_safe);
  return {.schedule = algorithm.make(request),
          .staged = algorithm.channel == Channel::staged && !by_name,
          .why = std::move(why),
          .needs_symmetric = algorithm.channel == Channel::symmetric};
}

// A schedule of the user's own, proven as the library proves it.
Result<SimulatedWay> own(const AlgorithmFile& file, const SimulatedCase& asked, const shm::RegionShape& shape,
                         const CallFacts& call) {
  Result<OwnAlgorithm> own = own_algorithm(file, asked.collective, shape);
  if (!own.ok()) return own.status();
  if (own->demands.root && *own->demands.root != asked.root)
    return not_here(fmt::format("{} is for root {}", file.path, *own->demands.root));
  Way way;
  way.collective = asked.collective;
  way.demands = own->demands;
  return SimulatedWay{.schedule = std::move(own->schedule),
                      .staged = !own->demands.needs_symmetric,
                      .why = forced_against(objection_to(way, call)),
                      .is_forced = true,
                      .needs_symmetric = own->demands.needs_symmetric};
}

Result<SimulatedWay> named(std::string_view name, const SimulatedCase& asked, std::uint32_t num_ranks, bool symmetric,
                           const CallFacts& call, Portfolio& portfolio) {
  const Result<NamedAlgorithm> found = find_by_full_name(asked.collective, name, num_ranks);
  if (!found.ok()) return found.status();
  std::string_view against;
  if (num_ranks <= kMostRanksOnHost) {
    const Result<Way*> known = portfolio.find(asked.collective, name);
    if (!known.ok()) return known.status();
    against = objection_to(**known, call);
  }
  SimulatedWay way = way_of(*found->algorithm, found->request, asked, symmetric, forced_against(against));
  way.is_forced = true;
  return way;
}

}  // namespace

WayChooser::WayChooser() = default;
WayChooser::~WayChooser() = default;

Result<SimulatedWay> WayChooser::choose(const SimulatedCase& asked, std::uint32_t num_ranks, const Variables& variables,
                                        bool symmetric, const std::function<bool()>& is_interrupted) {
  const Settings settings = Settings::from(variables);
  const CallFacts call{.symmetric = symmetric, .in_place = asked.in_place, .root = asked.root};
  const ForcedAlgorithm& forced = settings.forced_of(asked.collective);
  if (forced.file) return own(*forced.file, asked, settings.region_for(num_ranks), call);
  std::string key = fmt::format("{} ranks\n{}", num_ranks, settings.agreement(variables));
  if (known_ == nullptr || known_->key != key) known_ = std::make_unique<Known>(std::move(key), settings, num_ranks);
  known_->portfolio.end_when(is_interrupted);
  Result<SimulatedWay> way = [&]() -> Result<SimulatedWay> {
    if (!forced.name.empty()) return named(forced.name, asked, num_ranks, symmetric, call, known_->portfolio);
    const Result<Choice> choice = known_->selector.choose(asked.collective, asked.message_bytes, call);
    if (!choice.ok()) return choice.status();
    SimulatedWay chosen =
        way_of(*choice->way->algorithm, choice->way->request, asked, symmetric, std::string(choice->why));
    if (choice->unfollowed == nullptr) return chosen;
    chosen.unfollowed = fmt::format("{} cannot be followed: {}", choice->unfollowed->name, choice->why);
    chosen.why = fmt::format("by size; {}", chosen.unfollowed);
    return chosen;
  }();
  // What an interrupt has refused is no finding.
  known_->portfolio.end_when(nullptr);
  if (is_interrupted && is_interrupted()) known_.reset();
  return way;
}

}  // namespace tutti::cli
