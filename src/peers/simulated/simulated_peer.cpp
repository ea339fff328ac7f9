// SPDX-License-Identifier: Apache-2.0
#include "peers/simulated/simulated_peer.hpp"

#include <algorithm>
#include <deque>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "base/counted.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "base/variables/variables.hpp"
#include "fabric/files/load.hpp"
#include "on_fabric/way.hpp"
#include "peers/simulated/simulated_case.hpp"
#include "runtime/communicator/settings.hpp"
#include "runtime/selection/table_choice.hpp"
#include "simulate/references/correction.hpp"
#include "simulate/simulate.hpp"

namespace tutti::simulated {

namespace {

constexpr std::string_view kMemory = "BENCH_MEMORY";
constexpr std::string_view kSymmetric = "symmetric";
constexpr std::string_view kCorrection = "BENCH_CORRECTION";
constexpr std::string_view kSimulatedTime = "simulated_us";
constexpr std::string_view kRingBothWays = "ring_bidir_ag";

bool is_any_of(const VariableRow* row, std::initializer_list<VariableId> ids) {
  return std::any_of(ids.begin(), ids.end(), [&](VariableId id) { return row == &row_of(id); });
}

std::optional<Collective> forced_by(std::string_view variable) {
  const VariableRow* row = find_variable(variable);  // which it may be an alias of
  for (int each = 0; each < kNumCollectives; ++each)
    if (row != nullptr && row->name == forcing_variable(static_cast<Collective>(each)))
      return static_cast<Collective>(each);
  return std::nullopt;
}

harness::Evidence evidence_of(const harness::Setting& setting, const on_fabric::Call& asked,
                              const on_fabric::ChosenWay& way, const TableChoice& table) {
  using Obeyed = State::Obeyed;
  if (is_any_of(find_variable(setting.name), {VariableId::table}))
    return {way.is_of_table ? Obeyed::confirmed : Obeyed::unverifiable,
            fmt::format("{} was simulated: {}", way.schedule.name,
                        table.table == nullptr && !table.warnings.empty() ? table.warnings.front() : way.why)};
  const bool is_ring = is_any_of(find_variable(setting.name), {VariableId::ring_bidir_ag_max_size});
  const std::optional<Collective> of = is_ring ? Collective::all_reduce : forced_by(setting.name);
  if (of && *of != asked.collective)
    return {Obeyed::unverifiable, fmt::format("it concerns {}, not {}", name_of(*of), name_of(asked.collective))};
  if (is_ring && way.is_of_ring_variable)
    return {Obeyed::confirmed, fmt::format("{} was simulated", way.schedule.name)};
  const bool is_room = is_any_of(find_variable(setting.name), {VariableId::staging_slot, VariableId::staging_depth});
  if (is_room || (is_ring && (way.is_forced || way.schedule.name != kRingBothWays)))
    return {Obeyed::unverifiable,
            fmt::format("{} was simulated: {}", way.schedule.name, way.unfollowed.empty() ? way.why : way.unfollowed)};
  return {Obeyed::confirmed, fmt::format("{} was simulated", way.schedule.name)};
}

// The environment with the settings of a group.
Environment changed(const Environment& environment, const std::vector<harness::Setting>& settings) {
  const auto is_set = [&](const std::string& name) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const harness::Setting& setting) { return setting.name == name; });
  };
  Environment all;
  for (const std::string& name : environment.names())
    if (!is_set(name)) all.set(name, *environment.lookup(name));
  for (const harness::Setting& setting : settings)
    if (setting.value) all.set(setting.name, *setting.value);
  return all;
}

class SimulatedPeer final : public harness::Reckoner {
 public:
  SimulatedPeer(std::string_view words, fabric::Fabric fabric, const Environment& environment)
      : words_(words),
        fabric_(std::move(fabric)),
        environment_(environment),
        digest_(on_fabric::digest_of(words, fabric_)),
        version_(fmt::format("Tutti {} on fabric {:08x}", TUTTI_VERSION, static_cast<std::uint32_t>(digest_))) {}

  [[nodiscard]] std::string version() const override { return version_; }
  [[nodiscard]] int num_ranks() const override { return static_cast<int>(fabric_.num_ranks()); }
  [[nodiscard]] bool obeys(std::string_view variable) const override {
    return variable == kMemory || variable == kCorrection || forced_by(variable) ||
           is_any_of(find_variable(variable), {VariableId::ring_bidir_ag_max_size, VariableId::staging_slot,
                                               VariableId::staging_depth, VariableId::table});
  }

  [[nodiscard]] std::uint64_t settings_digest(const harness::Group& group) const override {
    const Told& told = told_to(group);
    return digest(told.memory.value_or(""), digest(told.correction.value_or(""), digest(told.words)));
  }

  void reckon(const harness::Group& group, const harness::MeasureOptions& options, harness::Row& row) const override {
    row.version = version_;
    row.sync = harness::Sync::virtual_time;
    const Status status = simulate_within_memory(group, options, row);
    if (status.ok()) return;
    row.outcome = status.code() == Code::unsupported ? harness::Outcome::skipped : harness::Outcome::error;
    row.note = status.to_string();
  }

 private:
  // What a group's environment says. Taken in once: files that change meanwhile are another run's.
  struct Told {
    std::optional<std::string> memory;
    std::optional<std::string> correction;
    Result<Settings> settings;
    std::string words;  // that tell settings apart
  };
  const Told& told_to(const harness::Group& group) const {
    const std::vector<harness::Setting> changes = group.all_settings();
    const auto seen = std::find_if(told_.begin(), told_.end(), [&](const auto& each) { return each.first == changes; });
    if (seen != told_.end()) return seen->second;
    const Environment environment = changed(environment_, changes);
    const Result<Variables> variables = Variables::load(environment, ConfPaths::standard(environment));
    Told told{.memory = environment.lookup(kMemory),
              .correction = environment.lookup(kCorrection),
              .settings = variables.ok() ? on_fabric::settings_on(fabric_, digest_, *variables) : variables.status(),
              .words = ""};
    told.words = told.settings.ok() ? told.settings->agreement(*variables) : told.settings.status().to_string();
    return told_.emplace_back(changes, std::move(told)).second;
  }

  // Too little memory costs the case, not the sweep.
  Status simulate_within_memory(const harness::Group& group, const harness::MeasureOptions& options,
                                harness::Row& row) const try {
    return simulate(group, options, row);
  } catch (const std::bad_alloc&) {
    chooser_.forget();
    return {Code::system, "there is not enough memory for this"};
  }

  Status simulate(const harness::Group& group, const harness::MeasureOptions& options, harness::Row& row) const {
    if (group.num_ranks > num_ranks())
      return on_fabric::not_here(fmt::format("{} has {}", fabric_.name, counted(num_ranks(), "rank")));
    TUTTI_TRY_ASSIGN(on_fabric::Call asked, asked_in(row));
    const Told& told = told_to(group);
    const bool symmetric = told.memory && same_name(*told.memory, kSymmetric);
    if (told.memory && !symmetric && !same_name(*told.memory, "ordinary"))
      return wrong_argument(fmt::format("{} is {}; it takes ordinary or symmetric", kMemory, in_quotes(*told.memory)));
    const bool corrects = !told.correction || *told.correction != "0";
    if (told.correction && corrects && *told.correction != "1")
      return wrong_argument(fmt::format("{} is {}; it takes 0 or 1", kCorrection, in_quotes(*told.correction)));
    if (!told.settings.ok()) return told.settings.status();
    asked.symmetric = symmetric;
    TUTTI_TRY_ASSIGN(const on_fabric::ChosenWay way,
                     chooser_.choose(asked, fabric_, static_cast<std::uint32_t>(group.num_ranks), *told.settings,
                                     options.is_interrupted));
    if (way.needs_symmetric && told.memory && !symmetric)
      return on_fabric::not_here(fmt::format("{} needs both buffers in symmetric memory, and {} says {}",
                                             way.schedule.name, kMemory, *told.memory));
    if (!(asked.in_place ? way.schedule.allows_in_place : way.schedule.allows_out_of_place))
      return on_fabric::not_here(
          fmt::format("{} is not for calls {} place", way.schedule.name, asked.in_place ? "in" : "out of"));
    TUTTI_TRY_ASSIGN(const simulate::Answer answer, simulate::simulate(way.schedule, fabric_,
                                                                       {.count = asked.count,
                                                                        .element_size = asked.element_size,
                                                                        .staged = way.staged,
                                                                        .check = options.check,
                                                                        .in_place = asked.in_place,
                                                                        .is_interrupted = options.is_interrupted}));
    tell_sizes(asked, row);
    row.samples = {answer.time};
    if (corrects) TUTTI_TRY(correct(asked, way, answer, row));
    row.rounds = {1};
    row.stop = harness::Stop::precise;
    row.is_checked = answer.checked;
    row.ran = fmt::format("{} {} ({})", name_of(asked.collective), way.schedule.name, way.why);
    const bool is_corrected = row.counters.contains(std::string(kSimulatedTime));
    for (const harness::Setting& setting : group.all_settings())
      row.evidence[setting.name] =
          setting.name == kCorrection
              ? harness::Evidence{State::Obeyed::confirmed,
                                  is_corrected ? "corrected by published times" : "the time of the bare model"}
              : evidence_of(setting, asked, way, told.settings->table);
    return {};
  }

  // By what published times near the case say of the model's errors.
  Status correct(const on_fabric::Call& asked, const on_fabric::ChosenWay& way, const simulate::Answer& answer,
                 harness::Row& row) const {
    if (way.algorithm.empty()) return {};
    if (!corrections_) {
      TUTTI_TRY_ASSIGN(corrections_, simulate::Corrections::of_shipped({&words_, 1}));
    }
    const std::optional<simulate::Correction> found =
        corrections_->find({.fabric = words_,
                            .collective = asked.collective,
                            .algorithm = way.algorithm,
                            .by_name = way.by_name,
                            .is_compiled = is_compiled_for(fabric_, way.algorithm, way.schedule.num_ranks),
                            .ranks = way.schedule.num_ranks,
                            .bytes = asked.message_bytes});
    if (!found) return {};
    row.samples = {answer.time * found->factor};
    row.counters[std::string(kSimulatedTime)] = answer.time / 1e3;
    row.counters[std::string(harness::kPredictedLow)] = answer.time * found->low / 1e3;
    row.counters[std::string(harness::kPredictedHigh)] = answer.time * found->high / 1e3;
    return {};
  }

  std::string words_;
  fabric::Fabric fabric_;
  const Environment& environment_;
  std::uint64_t digest_;
  std::string version_;
  mutable on_fabric::WayChooser chooser_;                     // remembers, and says the same all the same
  mutable std::optional<simulate::Corrections> corrections_;  // made when they are first asked for
  mutable std::deque<std::pair<std::vector<harness::Setting>, Told>> told_;
};

}  // namespace

Result<std::shared_ptr<const harness::Reckoner>> simulated_peer(std::string_view fabric,
                                                                const Environment& environment) {
  TUTTI_TRY_ASSIGN(fabric::Fabric loaded, fabric::load_fabric(fabric));
  return std::shared_ptr<const harness::Reckoner>(
      std::make_shared<const SimulatedPeer>(fabric, std::move(loaded), environment));
}

std::vector<harness::ForcedAlgorithm> simulated_algorithms(std::string_view bench) {
  std::vector<harness::ForcedAlgorithm> algorithms;
  const std::optional<Collective> collective = find_collective(bench);
  if (!collective) return algorithms;
  for (const Algorithm* algorithm : algorithms_of(*collective)) {
    const std::string name(algorithm->name);
    algorithms.push_back({.name = name, .settings = {{std::string(forcing_variable(*collective)), name}}});
  }
  return algorithms;
}

}  // namespace tutti::simulated
