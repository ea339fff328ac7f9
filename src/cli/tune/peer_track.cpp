// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/peer_track.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "bench/results/result.hpp"
#include "table/table_file.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kTableVariable = "TUTTI_TABLE";
constexpr std::string_view kDeviceTableVariable = "TUTTI_DEVICE_TABLE";
constexpr std::string_view kLeaveVariable = "TUTTI_LEAVE_BUSY_CORES";
constexpr std::uint64_t kLeastUnchecked = 4 << 20;
constexpr std::size_t kWarmingRounds = 8;
constexpr double kWarmingSeconds = 0.03;  // for each group

bool is_simulated(std::string_view peer) { return peer.starts_with(kFabricPeers); }
bool is_on_devices(std::string_view peer) { return peer == kDevicePeer; }

bool has_times(const harness::Row& row) { return row.outcome == harness::Outcome::ok && !row.samples.empty(); }

}  // namespace

harness::Point point_of(const tune::CaseKey& key, std::uint64_t bytes, Type type) {
  const CollectiveFacts& facts = facts_of(key.collective);
  harness::Point point;
  point.values.emplace_back("bytes", static_cast<std::int64_t>(bytes));
  point.values.emplace_back("type", std::string(name_of(type)));
  if (facts.folds) point.values.emplace_back("op", std::string(name_of(Op::sum)));
  if (facts.has_root) point.values.emplace_back("root", std::int64_t{0});
  point.values.emplace_back("in_place", std::int64_t{key.collective == Collective::broadcast ? 1 : 0});
  return point;
}

std::vector<std::optional<tune::WayTime>> times_of(const std::vector<harness::Racer>& racers) {
  const harness::Row* leader = nullptr;
  for (const harness::Racer& racer : racers) {
    if (!has_times(racer.row)) continue;
    const bool is_longer = leader == nullptr || racer.row.rounds.size() > leader->rounds.size();
    if (is_longer) leader = &racer.row;
  }
  std::vector<std::optional<tune::WayTime>> times(racers.size());
  for (std::size_t each = 0; each < racers.size(); ++each) {
    const harness::Row& row = racers[each].row;
    if (!has_times(row)) continue;
    const harness::Summary own = harness::summarize(row);
    tune::WayTime& time = times[each].emplace();
    time.us = own.median / 1e3;
    if (!harness::is_exact(row) && &row != leader) {
      const SteadyRounds rounds = steady_rounds(harness::medians_of_rounds(*leader), harness::medians_of_rounds(row));
      const harness::Ratio ratio = harness::compare(rounds.a, rounds.b);
      const double leaders = harness::summarize(*leader).median / 1e3;
      if (ratio.ratio > 0) time.us = leaders * ratio.ratio;
    }
    const double scale = own.median > 0 ? time.us / own.median : 0;
    time.low_us = own.interval ? own.interval->low * scale : own.minimum * scale;
    time.high_us = own.interval ? own.interval->high * scale : own.maximum * scale;
    time.samples = own.count;
  }
  return times;
}

SteadyRounds steady_rounds(std::vector<double> a, std::vector<double> b) {
  const std::size_t rounds = std::min(a.size(), b.size());
  a.resize(rounds);
  b.resize(rounds);
  // What is usual shows in the later half; only the half before it can be slow still.
  constexpr double kSlow = 3;
  std::size_t begin = 0;
  for (const std::vector<double>* each : {&a, &b}) {
    std::vector<double> later(each->begin() + static_cast<std::ptrdiff_t>(rounds / 2), each->end());
    std::erase(later, 0.0);
    if (later.empty()) continue;
    const double usual = harness::median_of(later);
    for (std::size_t round = 0; round < rounds / 2; ++round)
      if ((*each)[round] > kSlow * usual) begin = std::max(begin, round + 1);
  }
  a.erase(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(begin));
  b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(begin));
  return {std::move(a), std::move(b)};
}

PeerTrack::PeerTrack(PeerTrackOptions options, const TemporaryFolder& folder)
    : options_(std::move(options)), folder_(folder), track_(options_.track) {}

double PeerTrack::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

Result<std::vector<harness::Setting>> PeerTrack::settings_for(const DecisionTable& table) {
  const std::string text = write_table(table);
  auto found = files_.find(text);
  if (found == files_.end()) {
    const std::string path = fmt::format("{}/{}.toml", folder_.path(), files_.size());
    TUTTI_TRY(replace_file(path, text));
    found = files_.emplace(text, path).first;
  }
  const bool on_devices = is_on_devices(options_.track.peer.name);
  return std::vector<harness::Setting>{
      {std::string(on_devices ? kDeviceTableVariable : kTableVariable), found->second}};
}

Result<std::vector<harness::Setting>> PeerTrack::settings_for(const tune::CaseKey& key, const TableWay& way) {
  std::vector<harness::Setting> settings;
  if (options_.algorithms == nullptr) {
    if (way.algorithm.empty()) {
      settings.push_back({std::string(kTableVariable), "none"});
    } else {
      DecisionTable table;
      table.name = "candidate";
      table.fingerprint = kAnyMachine;
      table.sections.push_back({.collective = key.collective,
                                .ranks = key.ranks,
                                .memory = key.memory,
                                .hosts = key.hosts,
                                .ranges = {{.most_bytes = kNoEnd, .way = way, .evidence = {}}}});
      TUTTI_TRY_ASSIGN(settings, settings_for(table));
    }
  } else if (way.algorithm.empty() && is_on_devices(options_.track.peer.name)) {
    // What a range that is left open means: no algorithm of the table that ships.
    DecisionTable open;
    open.name = "open";
    open.fingerprint = kAnyMachine;
    open.on_devices = true;
    TUTTI_TRY_ASSIGN(settings, settings_for(open));
  } else {
    for (const harness::ForcedAlgorithm& each : options_.algorithms(key.collective))
      if (!way.algorithm.empty() && each.name == way.algorithm) settings = each.settings;
    for (const auto& [name, value] : way.settings) settings.push_back({name, value});
  }
  return settings;
}

bool PeerTrack::is_followed(const harness::Row& row, const TableWay& way) const {
  if (way.algorithm.empty() || options_.algorithms != nullptr) return true;
  return row.ran.find(folder_.path()) != std::string::npos;
}

std::vector<harness::Racer> PeerTrack::race_settings(const tune::CaseKey& key, std::uint64_t bytes,
                                                     std::span<const std::vector<harness::Setting>> settings,
                                                     const harness::RaceOptions& options) {
  std::vector<harness::Contender> contenders;
  for (const std::vector<harness::Setting>& each : settings) {
    harness::Contender& contender = contenders.emplace_back(harness::Contender{options_.track.peer.name, each});
    if (options_.algorithms == nullptr || is_simulated(options_.track.peer.name) ||
        is_on_devices(options_.track.peer.name))
      contender.settings.push_back({std::string(kMemoryVariable), std::string(name_of(key.memory))});
    // Contenders share cores, and wait while another races: none is to take the others for foreign load and move away.
    if (options_.algorithms == nullptr) contender.settings.push_back({std::string(kLeaveVariable), "0"});
  }
  const auto type = options_.types.find(key.types);
  harness::Point point = point_of(key, bytes, type == options_.types.end() ? Type::f32 : type->second);
  if (const auto hosts = harness::hosts_of(options_.track.runner.hosts, static_cast<int>(key.ranks)))
    point.values.emplace(point.values.begin(), std::string(harness::kHostsAxis),
                         harness::Value(harness::placement_text(hosts->entries)));
  const std::string bench(name_of(key.collective));
  bool has_new = false;
  for (const harness::Contender& each : contenders) {
    std::string group = fmt::format("{} {}", bench, key.ranks);
    for (const harness::Setting& setting : each.settings)
      group += fmt::format(" {}={}", setting.name, setting.value.value_or(""));
    has_new = warm_.insert(group).second || has_new;
  }
  // Ranks that have just been started are slow for some milliseconds, however much they warm up by themselves: so a
  // short race that does not count goes first.
  if (has_new && !is_simulated(options_.track.peer.name)) {
    harness::RaceOptions warming = options;
    warming.drops = false;
    warming.most_rounds = kWarmingRounds;
    warming.measure.check = false;
    warming.measure.budget.seconds =
        std::min(options.measure.budget.seconds, kWarmingSeconds * static_cast<double>(contenders.size()));
    static_cast<void>(track_.race(bench, static_cast<int>(key.ranks), point, contenders, warming));
  }
  std::vector<harness::Racer> racers = track_.race(bench, static_cast<int>(key.ranks), point, contenders, options);
  for (const harness::Racer& racer : racers)
    if (!racer.row.version.empty()) version_ = racer.row.version;
  return racers;
}

std::vector<tune::WayTime> PeerTrack::race(const tune::CaseKey& key, std::uint64_t bytes,
                                           std::span<const TableWay> ways, double seconds) {
  std::vector<std::vector<harness::Setting>> settings;
  std::vector<const TableWay*> raced;
  for (const TableWay& way : ways) {
    Result<std::vector<harness::Setting>> each = settings_for(key, way);
    if (!each.ok()) {
      objections_.emplace(each.status().message(), way.to_string());
      continue;
    }
    settings.push_back(std::move(*each));
    raced.push_back(&way);
  }
  harness::RaceOptions options{.measure = options_.measure};
  options.measure.budget.seconds = seconds;
  // Looking at long results takes longer than all rounds. Scoring looks at them.
  options.measure.check = options.measure.check && bytes < kLeastUnchecked;
  const std::vector<harness::Racer> racers = race_settings(key, bytes, settings, options);
  const std::vector<std::optional<tune::WayTime>> times = times_of(racers);
  std::vector<tune::WayTime> results;
  for (std::size_t each = 0; each < racers.size(); ++each) {
    const harness::Row& row = racers[each].row;
    if (row.outcome == harness::Outcome::wrong)
      wrong_.push_back(fmt::format("{} at {} B: {}", raced[each]->to_string(), bytes, row.note));
    if (!times[each] || !is_followed(row, *raced[each])) {
      objections_.emplace(row.note.empty() ? row.ran : row.note, raced[each]->to_string());
      continue;
    }
    tune::WayTime time = *times[each];
    time.way = *raced[each];
    results.push_back(std::move(time));
  }
  return results;
}

}  // namespace tutti::cli
