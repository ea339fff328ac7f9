// SPDX-License-Identifier: Apache-2.0
// The ways of all sizes are found together, by dynamic programming: least is the sum of the regrets' logarithms, and of
// the tolerance for each change of ways.
#include "tune/make_sections.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace tutti::tune {

namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();
// Of equally fast ways, those that make the fewest ranges.
constexpr double kLeastForChange = 1e-9;

std::vector<TableWay> ways_of(const std::vector<const Cell*>& cells) {
  std::vector<TableWay> ways;
  for (const Cell* const cell : cells)
    for (const WayTime& time : cell->times)
      if (std::find(ways.begin(), ways.end(), time.way) == ways.end()) ways.push_back(time.way);
  return ways;
}

// The logarithm of how much longer the way takes here than the best one.
double loss_of(const Cell& cell, const TableWay& way, const MergeOptions& options) {
  const WayTime* const time = cell.find(way);
  if (time == nullptr) return kImpossible;
  const double regret = cell.regret_of(way);
  if (way == TableWay()) {
    const bool is_doubtful = time->high_us >= cell.best()->low_us;
    const double most = is_doubtful ? std::max(options.most_regret, options.least_doubtful_gain) : options.most_regret;
    return time != cell.best() && regret > most ? kImpossible : std::log1p(regret);
  }
  if (time != cell.best() && regret > options.most_regret) return kImpossible;
  const WayTime* const untuned = cell.find(TableWay());
  const bool is_sure = untuned == nullptr || time->high_us < untuned->low_us;
  return std::log1p(regret) + std::log1p(is_sure ? options.least_gain : options.least_doubtful_gain);
}

// By size, which of `ways` is taken.
std::vector<std::size_t> choose_ways(const std::vector<const Cell*>& cells, const std::vector<TableWay>& ways,
                                     const MergeOptions& options) {
  const double change = std::max(std::log1p(options.tolerance), kLeastForChange);
  std::vector<double> least(ways.size(), 0);  // up to the size, where it has that way
  std::vector<std::vector<std::size_t>> before(cells.size(), std::vector<std::size_t>(ways.size()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto best = static_cast<std::size_t>(std::min_element(least.begin(), least.end()) - least.begin());
    std::vector<double> now(ways.size(), kImpossible);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const bool stays = i == 0 || least[way] <= least[best] + change;
      before[i][way] = stays ? way : best;
      now[way] = loss_of(*cells[i], ways[way], options) + (stays ? least[way] : least[best] + change);
    }
    least = std::move(now);
  }
  std::vector<std::size_t> chosen(cells.size());
  std::size_t way = static_cast<std::size_t>(std::min_element(least.begin(), least.end()) - least.begin());
  for (std::size_t i = cells.size(); i-- > 0;) {
    chosen[i] = way;
    way = before[i][way];
  }
  return chosen;
}

// Where a range of `from` ends between two sizes, the larger of which has `to`. In steps of a sixteenth.
std::uint64_t end_between(const Cell& low, const Cell& high, const TableWay& from, const TableWay& to) {
  double share = 0.5;  // of the way from low to high, by logarithms
  const WayTime* const times[] = {low.find(from), low.find(to), high.find(from), high.find(to)};
  if (std::all_of(std::begin(times), std::end(times), [](const WayTime* time) { return time != nullptr; })) {
    const double gain_low = std::log(times[1]->us / times[0]->us);   // of `from`, 0 or more
    const double gain_high = std::log(times[2]->us / times[3]->us);  // of `to`
    if (gain_low >= 0 && gain_high >= 0 && gain_low + gain_high > 0) share = gain_low / (gain_low + gain_high);
  }
  const double between =
      static_cast<double>(std::max<std::uint64_t>(low.bytes, 1)) *
      std::pow(static_cast<double>(high.bytes) / static_cast<double>(std::max<std::uint64_t>(low.bytes, 1)), share);
  const auto exact = static_cast<std::uint64_t>(between);
  const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(std::max<std::uint64_t>(exact, 1)) / 16, 1);
  return std::clamp(exact / step * step, low.bytes, high.bytes - 1);
}

TableEvidence evidence_of(const Cell& cell, const TableWay& way) {
  const WayTime& time = *cell.find(way);
  TableEvidence evidence{
      .bytes = cell.bytes, .us = time.us, .low_us = time.low_us, .high_us = time.high_us, .samples = time.samples};
  const WayTime* other = nullptr;
  for (const WayTime& each : cell.times)
    if (&each != &time && (other == nullptr || each.us < other->us)) other = &each;
  if (other != nullptr) {
    evidence.runner_up = other->way.to_string();
    evidence.margin_percent = std::round((other->us / time.us - 1) * 1000) / 10;
  }
  return evidence;
}

TableSection section_of(const CaseKey& key, const std::vector<const Cell*>& cells, const MergeOptions& options) {
  TableSection section{.collective = key.collective,
                       .ranks = key.ranks,
                       .memory = key.memory,
                       .types = key.types,
                       .hosts = key.hosts,
                       .ranges = {},
                       .line = 0};
  const std::vector<TableWay> ways = ways_of(cells);
  const std::vector<std::size_t> chosen = choose_ways(cells, ways, options);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const TableWay& way = ways[chosen[i]];
    if (i == 0 || chosen[i] != chosen[i - 1]) {
      if (i > 0) section.ranges.back().most_bytes = end_between(*cells[i - 1], *cells[i], ways[chosen[i - 1]], way);
      section.ranges.push_back({.most_bytes = kNoEnd, .way = way, .evidence = {}, .line = 0});
    }
    section.ranges.back().evidence.push_back(evidence_of(*cells[i], way));
  }
  return section;
}

}  // namespace

std::vector<TableSection> make_sections(std::span<const Cell> cells, const MergeOptions& options) {
  std::map<CaseKey, std::vector<const Cell*>> by_key;
  for (const Cell& cell : cells)
    if (!cell.times.empty()) by_key[cell.key].push_back(&cell);
  std::vector<TableSection> sections;
  for (auto& [key, of_key] : by_key) {
    std::sort(of_key.begin(), of_key.end(), [](const Cell* a, const Cell* b) { return a->bytes < b->bytes; });
    sections.push_back(section_of(key, of_key, options));
  }
  return sections;
}

void leave_beyond(std::uint64_t bytes, TableSection& section) {
  if (section.ranges.back().way == TableWay()) return;
  section.ranges.back().most_bytes = bytes;
  section.ranges.push_back({});
}

}  // namespace tutti::tune
