// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/tune_score.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tutti::cli {

namespace {

// Of one case, a launch after another.
struct Launches {
  std::vector<double> ratios;
  std::vector<double> before_us;
  std::vector<double> after_us;
  std::string before_ran;
  std::string after_ran;
  std::string fault;
  std::string error;  // of one launch, which may be the machine's doing
};

bool is_good(const harness::Row& row) { return row.outcome == harness::Outcome::ok && !row.samples.empty(); }

void add_launch(const harness::Row& before, const harness::Row& after, Launches& launches) {
  if (is_good(before) && after.outcome == harness::Outcome::wrong) launches.fault = after.note;
  if (is_good(before) && after.outcome == harness::Outcome::error) launches.error = after.note;
  if (is_good(before)) launches.before_us.push_back(harness::summarize(before).median / 1e3);
  if (!is_good(before) || !is_good(after)) return;
  launches.after_us.push_back(harness::summarize(after).median / 1e3);
  launches.before_ran = before.ran;
  launches.after_ran = after.ran;
  if (harness::is_exact(before)) {
    launches.ratios.push_back(before.samples.front() / after.samples.front());
    return;
  }
  const SteadyRounds rounds = steady_rounds(harness::medians_of_rounds(after), harness::medians_of_rounds(before));
  launches.ratios.push_back(harness::compare(rounds.a, rounds.b).ratio);
}

}  // namespace

std::vector<Scored> score(std::span<const tune::Cell> cells, const DecisionTable& table, const SettingsAfter& after,
                          const ScoreOptions& options, PeerTrack& track, const harness::MeasureOptions& measure) {
  std::vector<Launches> launches(cells.size());
  const double begin = track.now();
  harness::RaceOptions race{.measure = measure};
  race.drops = false;
  race.most_rounds = 10;
  bool is_exact = false;
  for (int launch = 0; launch < options.launches && !is_exact; ++launch) {
    track.relaunch();
    const double until = options.seconds * (launch + 1) / options.launches;
    for (std::size_t each = 0; each < cells.size() && !track.is_interrupted(); ++each) {
      const double left = until - (track.now() - begin);
      race.measure.budget.seconds = std::max(left / static_cast<double>(cells.size() - each), 0.01);
      std::vector<std::vector<harness::Setting>> contenders = {options.before, after(cells[each])};
      // If no setting changes, one row stands for both.
      if (contenders.back() == contenders.front()) contenders.pop_back();
      const std::vector<harness::Racer> racers =
          track.race_settings(cells[each].key, cells[each].bytes, contenders, race);
      add_launch(racers.front().row, racers.back().row, launches[each]);
      for (const harness::Racer& racer : racers) {
        if (options.rows == nullptr) break;
        options.rows->push_back(racer.row);
        options.rows->back().launch = launch;
      }
      is_exact = harness::is_exact(racers[0].row);
    }
  }
  std::vector<Scored> scored;
  for (std::size_t each = 0; each < cells.size(); ++each) {
    const Launches& of_case = launches[each];
    const std::string& fault = of_case.fault.empty() && of_case.ratios.empty() ? of_case.error : of_case.fault;
    if (of_case.ratios.empty() && fault.empty()) continue;
    Scored& row = scored.emplace_back();
    row.key = cells[each].key;
    row.bytes = cells[each].bytes;
    row.fault = fault;
    if (!of_case.before_us.empty()) row.before_us = harness::median_of(of_case.before_us);
    if (!of_case.after_us.empty()) row.after_us = harness::median_of(of_case.after_us);
    row.before_ran = of_case.before_ran;
    row.after_ran = of_case.after_ran;
    if (const TableSection* const section = section_for(table, row.key)) row.way = section->range_of(row.bytes).way;
    if (!of_case.ratios.empty()) row.ratio = harness::over_launches(of_case.ratios);
    if (is_exact)
      row.ratio.verdict =
          harness::verdict_of({.ratio = row.ratio.ratio, .interval = {{row.ratio.ratio, row.ratio.ratio}}});
  }
  return scored;
}

namespace {

// A new way that is not shown to be as good has the burden of proof, though the races had it in front: they are one
// launch, and the score is several.
bool is_kept(const Scored& each, bool unless_faster) {
  if (!each.fault.empty()) return false;
  switch (each.ratio.verdict) {
    case harness::Verdict::faster: return true;
    case harness::Verdict::slower: return false;
    case harness::Verdict::same: return !unless_faster;
    case harness::Verdict::undecided: return !unless_faster && each.ratio.ratio > 1 / (1 + harness::kSame);
  }
  return false;
}

}  // namespace

std::size_t undo_losses(std::vector<Scored>& scored, std::vector<tune::Cell>& cells,
                        const std::function<TableWay(const Scored&)>& way_before, bool unless_faster) {
  std::size_t losses = 0;
  for (Scored& each : scored) {
    if (is_kept(each, unless_faster)) continue;
    each.is_undone = true;
    ++losses;
    for (tune::Cell& cell : cells)
      if (cell.key == each.key && cell.bytes == each.bytes)
        cell.times = {{.way = way_before(each), .us = each.before_us, .low_us = 0, .high_us = 0, .samples = 0}};
  }
  return losses;
}

std::vector<Drift> drifts_of(std::span<const Scored> scored, std::span<const tune::Cell> cells,
                             const std::function<TableWay(const Scored&)>& way_before) {
  std::map<tune::CaseKey, std::vector<double>> times;
  for (const Scored& each : scored) {
    const auto cell = std::find_if(cells.begin(), cells.end(), [&](const tune::Cell& candidate) {
      return candidate.key == each.key && candidate.bytes == each.bytes;
    });
    const tune::WayTime* const found = cell == cells.end() ? nullptr : cell->find(way_before(each));
    if (found != nullptr && found->us > 0 && each.before_us > 0) times[each.key].push_back(each.before_us / found->us);
  }
  std::vector<Drift> drifts;
  for (const auto& [key, all] : times) {
    const double median = harness::median_of(all);
    if (all.size() >= kLeastSizesOfDrift && std::max(median, 1 / median) > kMostDrift) drifts.push_back({key, median});
  }
  return drifts;
}

const TableSection* section_for(const DecisionTable& table, const tune::CaseKey& key) {
  const auto found = std::find_if(table.sections.begin(), table.sections.end(), [&](const TableSection& section) {
    return section.collective == key.collective && section.ranks == key.ranks && section.memory == key.memory &&
           section.types == key.types && section.hosts == key.hosts;
  });
  return found == table.sections.end() ? nullptr : &*found;
}

double geometric_mean(std::span<const Scored> scored) {
  double sum = 0;
  for (const Scored& each : scored) sum += std::log(each.ratio.ratio);
  return scored.empty() ? 1 : std::exp(sum / static_cast<double>(scored.size()));
}

}  // namespace tutti::cli
