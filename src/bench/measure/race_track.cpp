// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/race_track.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tutti::harness {

namespace {

// The settings of contenders may be so long; more would move the stack of those that have more.
constexpr std::size_t kRoomForSettings = 1024;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Row blank_row(const std::string& bench, const Group& group, const Point& point) {
  Row row;
  row.bench = bench;
  row.peer = group.label;
  row.num_ranks = group.num_ranks;
  row.settings = group.settings;
  row.point = point;
  return row;
}

}  // namespace

RaceTrack::RaceTrack(TrackOptions options)
    : options_(std::move(options)),
      block_size_(size_of_block(options_.inherited, {}) + kRoomForSettings),
      random_(options_.runner.seed) {}

RaceTrack::Entry& RaceTrack::entry_for(const Contender& contender, int num_ranks) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.group.num_ranks == num_ranks && entry.group.label == contender.label &&
           entry.group.settings == contender.settings;
  });
  if (found != entries_.end()) return *found;
  Entry& entry = entries_.emplace_back();
  entry.group.peer = options_.peer.name;
  entry.group.label = contender.label;
  entry.group.num_ranks = num_ranks;
  entry.group.settings = contender.settings;
  return entry;
}

void RaceTrack::make_ready(Entry& entry) {
  if (!entry.refused.ok() || (entry.live != nullptr && entry.live->is_alive())) return;
  const auto begin = std::chrono::steady_clock::now();
  const RunnerOptions& runner = options_.runner;
  entry.live = std::make_unique<LiveGroup>(
      GroupRequest{.group = entry.group,
                   .program = options_.peer.program,
                   .launcher = runner.launcher.value_or(options_.peer.launcher),
                   .environment = environment_block(options_.inherited, entry.group.settings, block_size_),
                   .bind = options_.peer.is_bound ? runner.bind : Bind::none,
                   .hosts = hosts_of(runner.hosts, entry.group.num_ranks),
                   .limits = runner.limits,
                   .is_interrupted = runner.measure.is_interrupted});
  entry.refused = entry.live->start();
  if (!entry.refused.ok() && !runner.measure.is_interrupted()) entry.live.reset();
  ++num_started_;
  seconds_starting_ += seconds_since(begin);
}

void RaceTrack::make_room() {
  std::vector<Entry*> idle;
  std::size_t alive = 0;
  for (Entry& entry : entries_) {
    if (entry.live == nullptr) continue;
    ++alive;
    if (entry.last_race != num_races_) idle.push_back(&entry);
  }
  std::sort(idle.begin(), idle.end(), [](const Entry* a, const Entry* b) { return a->last_race < b->last_race; });
  std::vector<LiveGroup*> ending;
  for (const Entry* const entry : idle)
    if (alive - ending.size() > options_.most_alive) ending.push_back(entry->live.get());
  LiveGroup::end_all(ending);
  for (std::size_t each = 0; each < ending.size(); ++each) idle[each]->live.reset();
}

Row RaceTrack::reckoned(const Entry& entry, const std::string& bench, const Point& point,
                        const RaceOptions& options) const {
  Row row = blank_row(bench, entry.group, point);
  options_.peer.reckoner->reckon(entry.group, options.measure, row);
  return row;
}

std::vector<Racer> RaceTrack::race(const std::string& bench, int num_ranks, const Point& point,
                                   std::span<const Contender> contenders, const RaceOptions& options) {
  ++num_races_;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Entry*> entries;
  for (const Contender& contender : contenders) {
    Entry& entry = entry_for(contender, num_ranks);
    entry.last_race = num_races_;
    entries.push_back(&entry);
  }
  std::vector<Racer> racers(entries.size());
  if (options_.peer.reckoner != nullptr) {
    for (std::size_t each = 0; each < entries.size(); ++each)
      racers[each].row = reckoned(*entries[each], bench, point, options);
    seconds_racing_ += seconds_since(begin);
    return racers;
  }
  make_room();
  std::vector<LiveGroup*> live;
  std::vector<std::size_t> places;
  // Who starts later is placed elsewhere in memory.
  std::vector<Entry*> starting = entries;
  std::shuffle(starting.begin(), starting.end(), random_);
  for (Entry* const entry : starting)
    if (!options.measure.is_interrupted()) make_ready(*entry);
  for (std::size_t each = 0; each < entries.size(); ++each) {
    if (entries[each]->refused.ok() && entries[each]->live != nullptr) {
      live.push_back(entries[each]->live.get());
      places.push_back(each);
      continue;
    }
    racers[each].row = blank_row(bench, entries[each]->group, point);
    racers[each].row.outcome = Outcome::error;
    racers[each].row.note = entries[each]->refused.to_string();
  }
  std::vector<Racer> ran = harness::race(bench, live, point, options, random_);
  for (std::size_t each = 0; each < ran.size(); ++each) racers[places[each]] = std::move(ran[each]);
  seconds_racing_ += seconds_since(begin);
  return racers;
}

void RaceTrack::end_all() {
  std::vector<LiveGroup*> live;
  for (const Entry& entry : entries_)
    if (entry.live != nullptr) live.push_back(entry.live.get());
  LiveGroup::end_all(live);
  for (Entry& entry : entries_) entry.live.reset();
}

}  // namespace tutti::harness
