// SPDX-License-Identifier: Apache-2.0
#include "schedule/oracle/mutate.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "schedule/listed.hpp"
#include "schedule/oracle/oracle_element.hpp"
#include "schedule/prove/prove.hpp"
#include "schedule/prove/well_formed.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti {

namespace {

// More ranks have too many interleavings to see them all.
constexpr std::uint32_t kMostRanksExplored = 3;

// Generous ones for a schedule of which nobody knows what it needs.
oracle::Claims generous_claims(const Schedule& schedule) {
  std::size_t exposes = 0;
  for (const Program& program : programs_of(schedule)) {
    std::size_t own = 0;
    for (const std::vector<Step>& lane : program.lanes)
      own += static_cast<std::size_t>(
          std::count_if(lane.begin(), lane.end(), [](const Step& step) { return step.kind == StepKind::expose; }));
    exposes = std::max(exposes, own);
  }
  constexpr std::uint32_t kDepth = 64;
  return {.order = schedule.order,
          .depth = kDepth,
          .depth_fused = kDepth,
          .slots = static_cast<std::uint32_t>(2 * exposes)};
}

// Keeps the first ones by their numbers; the text of others is not made.
template <typename MakeText>
void note(std::vector<NotedMutant>& noted, std::uint64_t mutant, std::size_t most, const MakeText& make_text) {
  const auto behind = std::find_if(noted.begin(), noted.end(), [&](const auto& each) { return each.mutant > mutant; });
  if (static_cast<std::size_t>(behind - noted.begin()) >= most) return;
  noted.insert(behind, {mutant, make_text()});
  if (noted.size() > most) noted.pop_back();
}

class Campaign {
 public:
  Campaign(std::span<const Subject> subjects, const Judge& judge, const MutateOptions& options)
      : judge_(judge), options_(options) {
    const Subject* last = nullptr;
    for (const Subject& subject : subjects) {
      const bool is_new =
          last == nullptr || last->algorithm != subject.algorithm || last->collective != subject.collective;
      last = &subject;
      if (is_new) groups_.emplace_back();
      groups_.back()[subject.num_ranks].push_back(&subject);
    }
  }

  MutateReport run() {
    if (groups_.empty()) return {};
    {
      std::vector<std::jthread> threads;
      for (unsigned each = 0; each < std::max(options_.threads, 1U); ++each) threads.emplace_back([this] { work(); });
    }
    return std::move(report_);
  }

 private:
  using Group = std::map<std::uint32_t, std::vector<const Subject*>>;  // by ranks

  void work() {
    for (std::uint64_t mutant = next_++; mutant < options_.count; mutant = next_++) {
      examine(mutant);
      if (options_.num_judged != nullptr) ++*options_.num_judged;
    }
  }

  struct Drawn {
    const Subject* subject = nullptr;
    Mutant mutant;
    std::uint64_t seed = 0;
  };

  // In a schedule of few steps hardly anything can be changed: then it is another's turn. Nothing where none has any.
  [[nodiscard]] std::optional<Drawn> draw(std::uint64_t number) const {
    std::uint64_t seed = oracle::mix(oracle::mix(options_.seed) + number);
    constexpr int kTries = 100;
    for (int tries = 0; tries < kTries; ++tries) {
      const Group& group = groups_[oracle::mix(seed) % groups_.size()];
      const auto of_ranks = std::next(group.begin(), static_cast<std::ptrdiff_t>(oracle::mix(seed + 5) % group.size()));
      const Subject* subject = of_ranks->second[oracle::mix(seed + 1) % of_ranks->second.size()];
      std::optional<Mutant> mutant = mutate(subject->make(oracle::mix(seed + 2)), oracle::mix(seed + 3));
      if (mutant) return Drawn{subject, *std::move(mutant), seed};
      seed = oracle::mix(seed + 6);
    }
    return std::nullopt;
  }

  void examine(std::uint64_t number) {
    const std::optional<Drawn> drawn = draw(number);
    if (!drawn) return;
    const Subject& subject = *drawn->subject;
    const Mutant& mutant = drawn->mutant;
    const std::uint64_t seed = drawn->seed;
    const Schedule& schedule = mutant.schedule;
    const Verdict verdict = judge_(schedule);
    oracle::Effort effort{.seed = oracle::mix(seed + 4), .tells = verdict.accepted};
    effort.interleavings = verdict.accepted ? options_.interleavings : options_.interleavings_refused;
    if (verdict.accepted && schedule.num_ranks <= kMostRanksExplored) effort.most_states = options_.most_states;
    const oracle::Claims claims = verdict.accepted ? verdict.claims : generous_claims(schedule);
    const oracle::Findings findings = oracle::examine(schedule, claims, effort);

    Tally tally{.mutants = 1};
    if (!verdict.accepted) {
      tally.rejected = 1;
      if (!findings.trouble) tally.strict[verdict.reason] = 1;
    } else {
      (findings.trouble ? tally.harmful : tally.harmless) = 1;
    }
    const std::scoped_lock lock(mutex_);
    report_.tallies[{subject.collective, subject.algorithm}][mutant.mutation] += tally;
    if (!verdict.accepted) {
      if (!findings.trouble)
        note(report_.strict[verdict.reason], number, options_.most_strict,
             [&] { return story_of_strict(number, *drawn, verdict); });
      return;
    }
    report_.runs += findings.runs;
    if (effort.most_states > 0) report_.ways += findings.ways;
    report_.ways_explored += findings.ways_explored;
    if (findings.trouble)
      note(report_.harms, number, options_.most_harms,
           [&] { return story_of_harm(number, *drawn, *findings.trouble); });
  }

  [[nodiscard]] std::string story_of_harm(std::uint64_t number, const Drawn& drawn,
                                          const oracle::Trouble& trouble) const {
    std::string text = fmt::format("{} is accepted and does harm\n  changed: {}\n  harm: {}\n", name_of(number, drawn),
                                   drawn.mutant.what, trouble.what);
    for (const std::string& line : trouble.story) text += fmt::format("    {}\n", line);
    return text + steps_of(drawn);
  }

  [[nodiscard]] std::string story_of_strict(std::uint64_t number, const Drawn& drawn, const Verdict& verdict) const {
    return fmt::format("{} is rejected and does no harm\n  changed: {}\n  rejected: {}\n", name_of(number, drawn),
                       drawn.mutant.what, verdict.story) +
           steps_of(drawn);
  }

  [[nodiscard]] std::string name_of(std::uint64_t number, const Drawn& drawn) const {
    const Schedule& schedule = drawn.mutant.schedule;
    return fmt::format("mutant {} of seed {}, of {} {} with {} ranks,", number, options_.seed,
                       drawn.subject->collective, schedule.name, schedule.num_ranks);
  }

  [[nodiscard]] static std::string steps_of(const Drawn& drawn) {
    // Only prove's own judgement says that it can be written down.
    const auto malformed = find_malformed(Programs(drawn.mutant.schedule, Fusion::none));
    return malformed ? fmt::format("  it is not even well formed: {}\n", malformed->to_string())
                     : write_schedule(drawn.mutant.schedule);
  }

  const Judge& judge_;
  const MutateOptions& options_;
  std::vector<Group> groups_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  MutateReport report_;  // under the mutex
};

}  // namespace

Verdict judged_by_proof(const Schedule& schedule) {
  const Proof proof = prove(schedule);
  if (!proof.ok())
    return {.accepted = false,
            .reason = std::string(name_of(proof.failure->fault)),
            .claims = {},
            .story = proof.failure->to_string()};
  return {.accepted = true,
          .reason = "",
          .claims = {.order = proof.order,
                     .depth = proof.least_depth,
                     .depth_fused = proof.least_depth_fused,
                     .slots = proof.least_slots,
                     .name_safe_out_of_place = proof.out_of_place.exposure == Exposure::name_safe,
                     .name_safe_in_place = proof.in_place.exposure == Exposure::name_safe}};
}

Tally& Tally::operator+=(const Tally& other) {
  mutants += other.mutants;
  rejected += other.rejected;
  harmless += other.harmless;
  harmful += other.harmful;
  for (const auto& [reason, count] : other.strict) strict[reason] += count;
  return *this;
}

Tally MutateReport::total() const {
  Tally all;
  for (const auto& [subject, mutations] : tallies)
    for (const auto& [mutation, tally] : mutations) all += tally;
  return all;
}

MutateReport mutate_all(std::span<const Subject> subjects, const Judge& judge, const MutateOptions& options) {
  return Campaign(subjects, judge, options).run();
}

}  // namespace tutti
