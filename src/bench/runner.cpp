#include "bench/runner.hpp"

#include <algorithm>
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

std::size_t largest_block(const std::vector<std::string>& inherited, const std::vector<Group>& groups) {
  std::size_t largest = 0;
  for (const Group& group : groups) largest = std::max(largest, size_of_block(inherited, group.settings));
  return largest;
}

}  // namespace

Runner::Runner(RunnerOptions options, std::vector<PeerProgram> peers, std::vector<std::string> inherited)
    : options_(std::move(options)),
      peers_(std::move(peers)),
      inherited_(std::move(inherited)),
      random_(options_.seed) {}

Result<std::unique_ptr<LiveGroup>> Runner::start(const Group& group) {
  const auto peer =
      std::find_if(peers_.begin(), peers_.end(), [&](const PeerProgram& each) { return each.name == group.peer; });
  if (peer == peers_.end())
    return Status(Code::internal, fmt::format("nobody knows how peer {} is started", group.peer));
  ++num_starts_;
  return LiveGroup::start({.group = group,
                           .program = peer->program,
                           .launcher = options_.launcher.value_or(peer->launcher),
                           .environment = environment_block(inherited_, group.settings, block_size_),
                           .bind = options_.bind,
                           .limits = options_.limits,
                           .is_interrupted = options_.measure.is_interrupted});
}

Status Runner::run(const std::string& bench, const std::vector<Group>& groups, const std::set<std::string>& done,
                   const OnRow& on_row) {
  block_size_ = largest_block(inherited_, groups);
  for (int launch = 0; launch < options_.launches; ++launch)
    for (const Group& group : groups) {
      if (is_interrupted()) return {};
      TUTTI_TRY(run_group(bench, group, launch, done, on_row));
    }
  return {};
}

Status Runner::run_group(const std::string& bench, const Group& group, int launch, const std::set<std::string>& done,
                         const OnRow& on_row) {
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
    if (refused.ok() && (live == nullptr || !live->is_alive())) {
      live.reset();
      Result<std::unique_ptr<LiveGroup>> started = start(group);
      refused = started.status();
      if (started.ok()) live = std::move(*started);
    }
    if (is_interrupted()) return {};
    if (!refused.ok()) {
      TUTTI_TRY(on_row(failed(std::move(row), refused)));
      continue;
    }
    std::vector<Measured> measured = measure(bench, {live.get()}, {each.point}, options_.measure, random_);
    if (is_interrupted()) return {};
    measured[0].row.launch = launch;
    TUTTI_TRY(on_row(measured[0].row));
  }
  return {};
}

Status Runner::compare(const std::string& bench, const std::vector<Group>& groups, const OnCompared& on_case) {
  block_size_ = largest_block(inherited_, groups);
  std::map<int, std::vector<const Group*>> by_ranks;
  for (const Group& group : groups) by_ranks[group.num_ranks].push_back(&group);
  for (const auto& [num_ranks, competitors] : by_ranks) {
    std::vector<std::unique_ptr<LiveGroup>> live(competitors.size());
    std::vector<Status> refused(competitors.size());
    for (std::size_t number = 0; number < competitors[0]->cases.size(); ++number) {
      if (is_interrupted()) return {};
      const Case& each = competitors[0]->cases[number];
      if (!each.skipped.empty()) continue;
      std::vector<LiveGroup*> ready;
      std::vector<std::size_t> whose;
      Compared compared;
      for (std::size_t place = 0; place < competitors.size(); ++place) {
        compared.rows.push_back(row_of(bench, *competitors[place], each.point, 0));
        if (refused[place].ok() && (live[place] == nullptr || !live[place]->is_alive())) {
          live[place].reset();
          Result<std::unique_ptr<LiveGroup>> started = start(*competitors[place]);
          refused[place] = started.status();
          if (started.ok()) live[place] = std::move(*started);
        }
        if (refused[place].ok()) {
          ready.push_back(live[place].get());
          whose.push_back(place);
        } else {
          compared.rows.back() = failed(std::move(compared.rows.back()), refused[place]);
        }
      }
      const std::vector<Measured> measured =
          measure(bench, ready, std::vector<Point>(ready.size(), each.point), options_.measure, random_);
      if (is_interrupted()) return {};
      compared.against.resize(competitors.size());
      for (std::size_t one = 0; one < measured.size(); ++one) {
        compared.rows[whose[one]] = measured[one].row;
        const bool both = whose[one] != 0 && whose.front() == 0 && measured[0].row.outcome == Outcome::ok &&
                          measured[one].row.outcome == Outcome::ok;
        if (!both) continue;
        const std::vector<double>& a = measured[one].round_medians;
        const std::vector<double>& b = measured[0].round_medians;
        const std::size_t count = std::min(a.size(), b.size());
        compared.against[whose[one]] = harness::compare(std::span(a).first(count), std::span(b).first(count));
      }
      TUTTI_TRY(on_case(compared));
    }
  }
  return {};
}

}  // namespace tutti::harness
