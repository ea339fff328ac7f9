// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/runner.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>

namespace tutti::harness {

namespace {

Row row_of(const std::string& bench, const Group& group, const Point& point, int launch) {
  Row row;
  row.bench = bench;
  row.peer = group.label;
  row.num_ranks = group.num_ranks;
  row.settings = group.settings;
  row.point = point;
  row.launch = launch;
  return row;
}

Row failed(Row row, const Status& why) {
  row.outcome = Outcome::error;
  row.note = why.to_string();
  return row;
}

// What groups have in common where their algorithms are compared.
Point without_algorithm(const Group& group, Point point) {
  if (!group.algorithm.empty())
    std::erase_if(point.values, [](const auto& pair) { return pair.first == kAlgorithmAxis; });
  return point;
}

std::size_t largest_block(const std::vector<std::string>& inherited, const std::vector<Group>& groups) {
  std::size_t largest = 0;
  for (const Group& group : groups) largest = std::max(largest, size_of_block(inherited, group.all_settings()));
  return largest;
}

}  // namespace

const Reckoner* reckoner_of(const Group& group, const std::vector<PeerProgram>& peers) {
  const auto peer =
      std::find_if(peers.begin(), peers.end(), [&](const PeerProgram& each) { return each.name == group.peer; });
  return peer == peers.end() ? nullptr : peer->reckoner.get();
}

int launches_of(const Group& group, const std::vector<PeerProgram>& peers, int launches) {
  return reckoner_of(group, peers) == nullptr ? launches : 1;
}

std::optional<OverHosts> hosts_of(const std::map<int, OverHosts>& hosts, int num_ranks) {
  const auto found = hosts.find(num_ranks);
  return found == hosts.end() ? std::nullopt : std::optional(found->second);
}

Runner::Runner(RunnerOptions options, std::vector<PeerProgram> peers, std::vector<std::string> inherited)
    : options_(std::move(options)),
      peers_(std::move(peers)),
      inherited_(std::move(inherited)),
      random_(options_.seed) {}

Status Runner::start(const Group& group, std::unique_ptr<LiveGroup>& live) {
  live.reset();
  const auto peer =
      std::find_if(peers_.begin(), peers_.end(), [&](const PeerProgram& each) { return each.name == group.peer; });
  if (peer == peers_.end()) return {Code::internal, fmt::format("nobody knows how peer {} is started", group.peer)};
  live = std::make_unique<LiveGroup>(
      GroupRequest{.group = group,
                   .program = peer->program,
                   .launcher = options_.launcher.value_or(peer->launcher),
                   .environment = environment_block(inherited_, group.all_settings(), block_size_),
                   .bind = peer->is_bound ? options_.bind : Bind::none,
                   .hosts = hosts_of(options_.hosts, group.num_ranks),
                   .limits = options_.limits,
                   .is_interrupted = options_.measure.is_interrupted});
  Status started = live->start();
  if (!started.ok() && !is_interrupted()) live.reset();
  return started;
}

Status Runner::run(const std::string& bench, const std::vector<Group>& groups, const std::set<std::string>& done,
                   const OnRow& on_row) {
  block_size_ = largest_block(inherited_, groups);
  for (int launch = 0; launch < options_.launches; ++launch)
    for (const Group& group : groups) {
      if (is_interrupted()) return {};
      if (takes_part(group, launch)) TUTTI_TRY(run_group(bench, group, launch, done, on_row));
    }
  return {};
}

Status Runner::run_group(const std::string& bench, const Group& group, int launch, const std::set<std::string>& done,
                         const OnRow& on_row) {
  const Reckoner* const reckoner = reckoner_of(group, peers_);
  std::unique_ptr<LiveGroup> live;
  Status refused;  // why it cannot be started; then all that is left is so
  for (const Case& each : group.cases) {
    if (is_interrupted()) return {};
    Row row = row_of(bench, group, each.point, launch);
    if (done.contains(key_of(row))) continue;
    if (!each.skipped.empty()) {
      row.outcome = Outcome::skipped;
      row.note = each.skipped;
      TUTTI_TRY(on_row(row));
      continue;
    }
    if (reckoner != nullptr) {
      reckon(*reckoner, group, row);
      if (is_interrupted()) return {};
      TUTTI_TRY(on_row(row));
      continue;
    }
    if (refused.ok() && (live == nullptr || !live->is_alive())) refused = start(group, live);
    if (is_interrupted()) return {};
    if (!refused.ok()) {
      TUTTI_TRY(on_row(failed(std::move(row), refused)));
      continue;
    }
    std::vector<Row> measured = measure(bench, {live.get()}, each.point, options_.measure, random_);
    if (is_interrupted()) return {};
    measured[0].launch = launch;
    TUTTI_TRY(on_row(measured[0]));
  }
  return {};
}

void Runner::reckon(const Reckoner& reckoner, const Group& group, Row& row) const {
  const Nanos limit = options_.limits.answer;
  const auto until = std::chrono::steady_clock::now() + to_chrono(limit);
  bool is_late = false;
  MeasureOptions measure = options_.measure;
  measure.is_interrupted = [&] {
    is_late = is_late || std::chrono::steady_clock::now() >= until;
    return is_late || is_interrupted();
  };
  Row reckoned = row;
  reckoner.reckon(group, measure, reckoned);
  row = is_late ? failed(std::move(row),
                         {Code::timeout, fmt::format("{} has not answered within {}", group.peer, to_text(limit))})
                : std::move(reckoned);
}

void Runner::make_ready(Competitor& competitor) {
  if (!competitor.refused.ok() || (competitor.live != nullptr && competitor.live->is_alive())) return;
  competitor.refused = start(*competitor.group, competitor.live);
}

void Runner::end_all(const std::vector<Competitor>& competitors) {
  std::vector<LiveGroup*> live;
  for (const Competitor& competitor : competitors)
    if (competitor.live != nullptr) live.push_back(competitor.live.get());
  LiveGroup::end_all(live);
}

Status Runner::compare(const std::string& bench, const std::vector<Group>& groups, const std::set<std::string>& done,
                       const OnRows& on_rows) {
  block_size_ = largest_block(inherited_, groups);
  std::map<int, std::vector<const Group*>> by_ranks;
  for (const Group& group : groups) by_ranks[group.num_ranks].push_back(&group);
  for (int launch = 0; launch < options_.launches; ++launch)
    for (const auto& [num_ranks, together] : by_ranks) {
      std::vector<Competitor> competitors;
      std::vector<Point> points;
      for (const Group* group : together) {
        competitors.push_back({.group = group, .live = nullptr, .refused = {}});
        for (const Case& each : group->cases) {
          Point point = without_algorithm(*group, each.point);
          if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(std::move(point));
        }
      }
      Status compared;
      for (const Point& point : points) {
        if (is_interrupted()) break;
        compared = compare_case(bench, competitors, point, launch, done, on_rows);
        if (!compared.ok()) break;
      }
      end_all(competitors);
      TUTTI_TRY(compared);
      if (is_interrupted()) return {};
    }
  return {};
}

std::vector<Runner::Part> Runner::parts_of(const std::string& bench, std::vector<Competitor>& competitors,
                                           const Point& point, int launch) const {
  std::vector<Part> parts;
  for (Competitor& competitor : competitors) {
    const Group& group = *competitor.group;
    if (!takes_part(group, launch)) continue;
    const auto mine = std::find_if(group.cases.begin(), group.cases.end(),
                                   [&](const Case& each) { return without_algorithm(group, each.point) == point; });
    if (mine != group.cases.end()) parts.push_back({&competitor, &*mine, row_of(bench, group, mine->point, launch)});
  }
  return parts;
}

void Runner::make_ready_in_turn(const std::vector<Part>& parts, int launch) {
  for (std::size_t each = 0; each < parts.size() && !is_interrupted(); ++each) {
    const Part& part = parts[(static_cast<std::size_t>(launch) + each) % parts.size()];
    if (part.mine->skipped.empty() && reckoner_of(*part.competitor->group, peers_) == nullptr)
      make_ready(*part.competitor);
  }
}

Status Runner::compare_case(const std::string& bench, std::vector<Competitor>& competitors, const Point& point,
                            int launch, const std::set<std::string>& done, const OnRows& on_rows) {
  std::vector<Part> parts = parts_of(bench, competitors, point, launch);
  const bool is_done =
      std::all_of(parts.begin(), parts.end(), [&](const Part& part) { return done.contains(key_of(part.row)); });
  if (is_done) return {};
  make_ready_in_turn(parts, launch);
  std::vector<Row> rows;
  std::vector<LiveGroup*> ready;
  std::vector<std::size_t> places;  // of those that are ready, in `rows`
  for (Part& part : parts) {
    Row& row = rows.emplace_back(std::move(part.row));
    if (!part.mine->skipped.empty()) {
      row.outcome = Outcome::skipped;
      row.note = part.mine->skipped;
      continue;
    }
    if (const Reckoner* reckoner = reckoner_of(*part.competitor->group, peers_)) {
      reckon(*reckoner, *part.competitor->group, row);
      continue;
    }
    if (is_interrupted()) return {};
    if (!part.competitor->refused.ok()) {
      row = failed(std::move(row), part.competitor->refused);
      continue;
    }
    ready.push_back(part.competitor->live.get());
    places.push_back(rows.size() - 1);
  }
  MeasureOptions options = options_.measure;
  if (!ready.empty()) options.first = static_cast<std::size_t>(launch) % ready.size();
  std::vector<Row> measured = measure(bench, ready, point, options, random_);
  if (is_interrupted()) return {};
  for (std::size_t each = 0; each < measured.size(); ++each) {
    measured[each].launch = launch;
    measured[each].point = rows[places[each]].point;
    rows[places[each]] = std::move(measured[each]);
  }
  return on_rows(rows);
}

}  // namespace tutti::harness
