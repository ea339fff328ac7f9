// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/prove.hpp"

#include <algorithm>
#include <array>
#include <future>

#include <fmt/format.h>

#include "schedule/prove/symbolic_run.hpp"
#include "schedule/prove/well_formed.hpp"
#include "schedule/prove/world.hpp"

namespace tutti {

namespace {

bool walks_to_the_end(const Programs& programs, const Conditions& conditions) {
  return !World(programs, conditions).run().has_value();
}

// The least value of one condition with which nothing gets stuck. More never hurts, and `enough` is known to do.
template <typename Works>
std::uint32_t least(std::uint32_t from, std::uint32_t enough, Works works) {
  std::uint32_t fails = from;
  std::uint32_t does = from;
  while (!works(does)) {
    fails = does + 1;
    if (does >= enough) return enough;
    does = std::min(enough, does < 4 ? does + 1 : does * 2);
  }
  while (fails < does) {
    const std::uint32_t middle = fails + (does - fails) / 2;
    const bool is_enough = works(middle);
    (is_enough ? does : fails) = is_enough ? middle : middle + 1;
  }
  return does;
}

std::uint32_t least_slots(const Programs& programs, const Conditions& given) {
  std::uint32_t most = 0;
  for (std::uint32_t rank = 0; rank < programs.num_ranks(); ++rank)
    most = std::max(most, programs.rank_facts(rank).num_exposes);
  if (most == 0) return 0;
  std::uint32_t rounds = 0;
  for (const std::uint32_t each : given.operations) rounds += each;
  Conditions conditions = given;
  return least(1, most * rounds, [&](std::uint32_t slots) {
    conditions.staging_slots = slots;
    return walks_to_the_end(programs, conditions);
  });
}

std::uint32_t least_depth(const Programs& programs, const Conditions& given) {
  Conditions conditions = given;
  return least(0, static_cast<std::uint32_t>(programs.num_steps() * 3), [&](std::uint32_t depth) {
    conditions.depth = depth;
    return walks_to_the_end(programs, conditions);
  });
}

bool exposes_anything(const Programs& programs) {
  for (std::uint32_t rank = 0; rank < programs.num_ranks(); ++rank)
    if (programs.rank_facts(rank).num_exposes != 0) return true;
  return false;
}

bool uses_messages(const Programs& programs) {
  const auto is_message = [](const Endpoint& end) { return end.place == Place::message; };
  for (std::uint32_t rank = 0; rank < programs.num_ranks(); ++rank)
    for (const auto& lane : programs.program(rank).lanes)
      for (const Step& step : lane)
        if (std::any_of(step.sources.begin(), step.sources.end(), is_message)) return true;
  return false;
}

// Every lane knows a time of every other one, so this bounds prove's memory and time.
constexpr std::uint32_t kMostLanesInOrder = 1U << 14;

// Pieces that all steps together name, once for each end: what a walk with data takes its time for.
constexpr std::uint64_t kMostPiecesTouched = std::uint64_t{1} << 24;
// Words of 64 bits that say which ranks' contributions a value holds, of the inputs alone: memory.
constexpr std::uint64_t kMostWordsOfInputs = std::uint64_t{1} << 24;

std::uint64_t pieces_touched(const Programs& programs) {
  std::uint64_t touched = 0;
  for (std::uint32_t rank = 0; rank < programs.num_ranks(); ++rank)
    for (const auto& lane : programs.program(rank).lanes)
      for (const Step& step : lane)
        for (const auto* ends : {&step.sources, &step.destinations})
          for (const Endpoint& end : *ends) touched += end.slice.size();
  return touched;
}

// What makes the proof too large to be tried; empty if nothing does.
std::string too_large(const Programs& programs) {
  const std::uint64_t lanes = std::uint64_t{programs.num_ranks()} * programs.num_lanes();
  if (programs.shares_memory() && lanes > kMostLanesInOrder)
    return fmt::format("has {} ranks of {} lanes; {} lanes in all can be kept apart", programs.num_ranks(),
                       programs.num_lanes(), kMostLanesInOrder);
  if (const std::uint64_t touched = pieces_touched(programs); touched > kMostPiecesTouched)
    return fmt::format("names {} pieces in all its steps; {} are the most", touched, kMostPiecesTouched);
  const Division& inputs = programs.schedule().division(Space::input);
  const std::uint64_t words =
      std::uint64_t{programs.num_ranks()} * inputs.blocks * inputs.pieces * ((programs.num_ranks() + 63) / 64);
  if (words > kMostWordsOfInputs)
    return fmt::format("has {} ranks with {} blocks of {} pieces as input, more than can be followed",
                       programs.num_ranks(), inputs.blocks, inputs.pieces);
  return "";
}

// From so many steps on it is worth a thread that the two fusions do not share their table of values.
constexpr std::size_t kMostStepsOfOneThread = 1U << 16;

// Proves the programs as they were written and then fused, and adds what it learns to one Proof.
class Prover {
 public:
  Prover(const Schedule& schedule, Proof& proof)
      : schedule_(schedule), proof_(proof), values_(schedule.num_ranks, schedule.division(Space::input)) {}

  bool prove(Fusion fusion) { return prove(Programs(schedule_, fusion), fusion); }

  // False where the schedule is wrong.
  bool prove(const Programs& programs, Fusion fusion) {
    Conditions conditions;
    if (exposes_anything(programs)) {
      // Known to walk to the end before anything is sought that only holds up the walk. Where nothing is exposed, the
      // first run finds out.
      proof_.failure = World(programs, conditions).run();
      if (proof_.failure) return false;
    }
    conditions.staging_slots = least_slots(programs, conditions);
    proof_.least_slots = std::max(proof_.least_slots, conditions.staging_slots);
    const bool exposes = conditions.staging_slots != 0;
    // Data is run with a slot for each expose: one that waits for a slot would order its lane after others', and what
    // relies on that is wrong with a slot more. That a slot is not used again too early needs no run: whoever exposes
    // waits until every rank is done with the round that reads it.
    Conditions roomy = conditions;
    roomy.staging_slots = kUnlimited;
    for (const bool in_place : {false, true}) {
      if (!(in_place ? schedule_.allows_in_place : schedule_.allows_out_of_place)) continue;
      proof_.failure = run(programs, roomy, in_place, fusion);
      if (proof_.failure) return false;
      if (exposes) run_by_name(programs, roomy, in_place, fusion);
    }
    if (!exposes) conditions.staging_slots = kUnlimited;
    if (proof_.has_messages) find_depth(programs, conditions, fusion);
    return true;
  }

  // What another Prover has learned of the same schedule's other fusion, where nothing is exposed.
  void join(const Proof& other) {
    proof_.failure = other.failure;
    proof_.least_depth_fused = other.least_depth_fused;
    proof_.roundings = other.roundings;
    if (other.order >= proof_.order) {
      proof_.order = other.order;
      proof_.why_not_stricter = other.why_not_stricter;
    }
  }

  bool check_order() {
    if (proof_.order <= schedule_.order) return true;
    proof_.failure = {Fault::order,
                      0,
                      0,
                      0,
                      "",
                      fmt::format("promises to be {} and is {}", name_of(schedule_.order), name_of(proof_.order)),
                      {proof_.why_not_stricter}};
    return false;
  }

 private:
  std::optional<Failure> run(const Programs& programs, const Conditions& conditions, bool in_place, Fusion fusion) {
    SymbolicRun observer(programs, conditions, in_place, values_);
    std::optional<Failure> failure = World(programs, conditions, &observer).run();
    if (observer.failure()) failure = observer.failure();
    if (!failure) failure = observer.wrong_mark();
    if (failure) {
      failure->what +=
          fmt::format(" ({}, {}, {})", in_place ? "in place" : "out of place",
                      fusion == Fusion::none ? "as written" : "fused", conditions.staged ? "staged" : "by name");
      return failure;
    }
    if (observer.order() >= proof_.order || first_run_) {
      proof_.order = observer.order();
      proof_.why_not_stricter = observer.why_not_stricter();
    }
    first_run_ = false;
    if (fusion == Fusion::neighbours) proof_.roundings = std::max(proof_.roundings, observer.roundings());
    return std::nullopt;
  }

  void run_by_name(const Programs& programs, Conditions conditions, bool in_place, Fusion fusion) {
    conditions.staged = false;
    ExposureProof& exposure = in_place ? proof_.in_place : proof_.out_of_place;
    if (exposure.exposure == Exposure::copy_only) return;
    exposure.why_copy_only = run(programs, conditions, in_place, fusion);
    exposure.exposure = exposure.why_copy_only ? Exposure::copy_only : Exposure::name_safe;
  }

  void find_depth(const Programs& programs, Conditions conditions, Fusion fusion) {
    std::uint32_t& depth = fusion == Fusion::none ? proof_.least_depth : proof_.least_depth_fused;
    conditions.staged = true;
    depth = least_depth(programs, conditions);
    const auto is_safe = [](const ExposureProof& proof) { return proof.exposure == Exposure::name_safe; };
    if (!is_safe(proof_.in_place) && !is_safe(proof_.out_of_place)) return;
    conditions.staged = false;
    depth = std::max(depth, least_depth(programs, conditions));
  }

  const Schedule& schedule_;
  Proof& proof_;
  ValueTable values_;
  bool first_run_ = true;
};

}  // namespace

std::string_view name_of(Exposure exposure) {
  switch (exposure) {
    case Exposure::none: return "none";
    case Exposure::copy_only: return "copy-only";
    case Exposure::name_safe: return "name-safe";
  }
  return "unknown";
}

Proof prove(const Schedule& schedule) {
  Proof proof;
  Prover prover(schedule, proof);
  const auto prove_fused = [&schedule](Proof other) {
    Prover(schedule, other).prove(Fusion::neighbours);
    return other;
  };
  std::future<Proof> fused;
  {
    if (schedule.num_ranks == 0 || schedule.num_lanes == 0) {
      proof.failure = Failure{Fault::out_of_bounds, 0, 0, 0, "", "a schedule needs ranks and lanes", {}};
      return proof;
    }
    if (!schedule.allows_in_place && !schedule.allows_out_of_place) {
      proof.failure = Failure{Fault::malformed, 0, 0, 0, "", "is allowed neither in place nor out of place", {}};
      return proof;
    }
    const Programs written(schedule, Fusion::none);
    proof.failure = find_malformed(written);
    if (proof.failure) return proof;
    if (std::string why = too_large(written); !why.empty()) {
      proof.failure = Failure{Fault::too_large, 0, 0, 0, "", std::move(why), {}};
      return proof;
    }
    proof.has_messages = uses_messages(written);
    if (written.num_steps() > kMostStepsOfOneThread && !exposes_anything(written))
      fused = std::async(std::launch::async | std::launch::deferred, prove_fused, proof);
    if (!prover.prove(written, Fusion::none)) return proof;
  }
  if (fused.valid()) {
    prover.join(fused.get());
  } else {
    prover.prove(Fusion::neighbours);
  }
  if (!proof.failure) prover.check_order();
  return proof;
}

}  // namespace tutti
