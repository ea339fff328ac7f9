// SPDX-License-Identifier: Apache-2.0
#include "tune/candidates.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "algorithms/registry.hpp"
#include "schedule/programs.hpp"

namespace tutti::tune {

namespace {

// Below these sizes the values make no difference: everything is one round, copies are short, and fits the caches.
constexpr std::uint64_t kLeastForRounds = 16 << 10;
constexpr std::uint64_t kLeastForCopies = 4 << 10;
constexpr std::uint64_t kLeastForStores = 64 << 10;
constexpr std::uint64_t kLeastRound = 8 << 10;
// What slots are made for with any profile that ships: longer ones would change all calls.
constexpr std::uint64_t kMostRound = 512 << 10;

// Within hosts, and between them in the way that its parameter names.
constexpr std::string_view kHierarchical = "hierarchical";
constexpr auto kBetweenHosts = std::to_array<std::string_view>({"ring", "recursive_doubling", "rabenseifner"});

// Schedules that were taken, so that none is measured under two names: a ring of two ranks is many algorithms.
class Schedules {
 public:
  // Whether it is new. Of many ranks it always is: comparing takes time, and few are alike.
  bool add(const NamedAlgorithm& named) {
    constexpr std::uint32_t kMostRanks = 32;
    if (named.request.num_ranks > kMostRanks) return true;
    Entry& entry = entries_.emplace_back();
    entry.schedule = named.algorithm->make(named.request);
    entry.programs = std::make_unique<Programs>(entry.schedule, Fusion::none);
    const bool is_new = std::none_of(entries_.begin(), std::prev(entries_.end()),
                                     [&](const Entry& other) { return are_equal(other, entry); });
    if (!is_new) entries_.pop_back();
    return is_new;
  }

 private:
  struct Entry {
    Schedule schedule;
    std::unique_ptr<Programs> programs;
  };
  static bool are_equal(const Entry& a, const Entry& b) {
    if (a.schedule.spaces != b.schedule.spaces || a.schedule.num_lanes != b.schedule.num_lanes) return false;
    for (std::uint32_t rank = 0; rank < a.schedule.num_ranks; ++rank)
      for (std::uint32_t lane = 0; lane < a.schedule.num_lanes; ++lane)
        if (a.programs->steps(rank, lane) != b.programs->steps(rank, lane)) return false;
    return true;
  }
  std::deque<Entry> entries_;  // programs refer to their schedules
};

void add_if_possible(Collective collective, const OwnOptions& options, const std::string& name, Schedules& schedules,
                     std::vector<TableWay>& ways) {
  const Result<NamedAlgorithm> found = find_by_full_name(collective, name, options.ranks);
  if (!found.ok() || found->algorithm->channel == Channel::multicast) return;
  const bool is_between_hosts = options.ranks_of_hosts.size() > 1;
  if (is_between_hosts && found->algorithm->channel != Channel::message && !name.starts_with(kHierarchical)) return;
  if (found->algorithm->channel == Channel::symmetric && options.memory == TableMemory::ordinary) {
    // Those that copy by the system work on any memory.
    if (!found->algorithm->name_safe) return;
  }
  const bool folds = facts_of(collective).folds;
  if (folds && found->algorithm->order > options.order) return;
  const TableWay way{.algorithm = full_name(*found->algorithm, found->request), .tuning = {}, .settings = {}};
  if (schedules.add(*found)) ways.push_back(way);
}

std::vector<TableWay> own_neighbours(Collective collective, std::uint32_t ranks, const TableWay& way,
                                     std::uint64_t bytes) {
  using Copies = CallTuning::Copies;
  using Stores = CallTuning::Stores;
  std::vector<TableWay> ways;
  // Messages go through queues of their own, whatever is said of staging slots.
  const Result<NamedAlgorithm> found = find_by_full_name(collective, way.algorithm, ranks);
  if (way.algorithm.empty() || !found.ok() || found->algorithm->channel == Channel::message) return ways;
  const auto add = [&](CallTuning tuning) {
    if (tuning != way.tuning) ways.push_back({.algorithm = way.algorithm, .tuning = tuning, .settings = {}});
  };
  const auto changed = [&](auto change) {
    CallTuning tuning = way.tuning;
    change(tuning);
    add(tuning);
  };
  // Both at once: staged copies may be fast only with cached stores, and neither alone.
  const std::vector<Stores> all_stores =
      bytes >= kLeastForStores ? std::vector{Stores::cached, Stores::streamed} : std::vector{Stores::by_profile};
  if (bytes >= kLeastForCopies)
    for (const Copies copies : {Copies::staged, Copies::attached})
      for (const Stores stores : all_stores)
        changed([&](CallTuning& tuning) {
          tuning.copies = copies;
          tuning.stores = stores;
        });
  // A round longer than the message is no other than one as long.
  if (bytes >= kLeastForRounds && way.tuning.copies != Copies::attached)
    for (std::uint64_t round = kLeastRound; round <= std::min(bytes, kMostRound); round *= 2)
      changed([&](CallTuning& tuning) { tuning.round = round; });
  return ways;
}

}  // namespace

Candidates own_candidates(Collective collective, const OwnOptions& options) {
  Candidates candidates{.first = {TableWay()}, .neighbours = nullptr};
  // Rounds, copies and stores are of memory that all share.
  if (options.ranks_of_hosts.size() < 2)
    candidates.neighbours = [collective, ranks = options.ranks](const TableWay& way, std::uint64_t bytes) {
      return own_neighbours(collective, ranks, way, bytes);
    };
  Schedules schedules;
  const std::set<std::uint32_t> few = {1, 2, options.cores, options.ranks / 2, options.ranks - 1, options.ranks};
  for (const Algorithm* const algorithm : algorithms_of(collective)) {
    const std::string name(algorithm->name);
    if (!algorithm->takes.radix) {
      add_if_possible(collective, options, name, schedules, candidates.first);
      continue;
    }
    for (const std::uint32_t radix : few)
      if (radix >= 1 && radix <= options.ranks)
        add_if_possible(collective, options, fmt::format("{}({})", name, radix), schedules, candidates.first);
  }
  const bool have_some_several = std::any_of(options.ranks_of_hosts.begin(), options.ranks_of_hosts.end(),
                                             [](std::uint32_t ranks) { return ranks > 1; });
  if (options.ranks_of_hosts.size() > 1 && have_some_several)
    for (const std::string_view between : kBetweenHosts)
      add_if_possible(collective, options,
                      fmt::format("{}({},{})", kHierarchical, fmt::join(options.ranks_of_hosts, "+"), between),
                      schedules, candidates.first);
  return candidates;
}

Candidates peer_candidates(const std::vector<std::string>& algorithms, std::vector<Knob> knobs) {
  Candidates candidates{.first = {TableWay()}, .neighbours = nullptr};
  for (const std::string& name : algorithms)
    candidates.first.push_back({.algorithm = name, .tuning = {}, .settings = {}});
  if (knobs.empty()) return candidates;
  candidates.neighbours = [knobs = std::move(knobs)](const TableWay& way, std::uint64_t bytes) {
    std::vector<TableWay> ways;
    if (way.algorithm.empty()) return ways;
    for (const Knob& knob : knobs) {
      const bool is_for_it = knob.algorithms.empty() || std::find(knob.algorithms.begin(), knob.algorithms.end(),
                                                                  way.algorithm) != knob.algorithms.end();
      if (!is_for_it || bytes < knob.least_bytes) continue;
      for (const std::string& value : knob.values) {
        TableWay other = way;
        std::erase_if(other.settings, [&](const auto& setting) { return setting.first == knob.name; });
        other.settings.emplace_back(knob.name, value);
        std::sort(other.settings.begin(), other.settings.end());
        if (!(other == way)) ways.push_back(std::move(other));
      }
    }
    return ways;
  };
  return candidates;
}

}  // namespace tutti::tune
