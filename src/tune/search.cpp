// SPDX-License-Identifier: Apache-2.0
#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/digest.hpp"

namespace tutti::tune {

namespace {

// How much of the time each phase may have used when it ends.
constexpr double kAllWays = 0.40;
constexpr double kNeighbours = 0.62;
constexpr double kBetween = 0.80;
constexpr double kCloser = 0.85;
// One race takes no less, or it says nothing.
constexpr double kLeastSeconds = 0.02;
// Of how many sizes between, one is raced by a way that was pruned.
constexpr std::uint64_t kCheckOneOf = 3;
// From this size on a race takes seconds; then few ways take part, and none that took so much longer before.
constexpr std::uint64_t kLeastOfLong = 4 << 20;
constexpr double kFarBehind = 0.5;
constexpr std::size_t kMostOfLong = 5;
constexpr double kNearEnoughToClimb = 1.1;
constexpr std::size_t kMostIncumbents = 3;
constexpr int kMostSteps = 3;  // from a way to its neighbours, and on to theirs

bool contains(std::span<const TableWay> ways, const TableWay& way) {
  return std::find(ways.begin(), ways.end(), way) != ways.end();
}

void add(std::vector<TableWay>& ways, const TableWay& way) {
  if (!contains(ways, way)) ways.push_back(way);
}

class Searcher {
 public:
  Searcher(const CaseKey& key, const Candidates& candidates, const SearchOptions& options, Track& track,
           const OnProgress& on_progress)
      : key_(key), candidates_(candidates), options_(options), track_(track), on_progress_(on_progress) {
    begin_ = track.now();
  }

  SearchResult run() {
    if (options_.exhaustive) {
      race_everything();
    } else {
      race_all_ways();
      race_neighbours();
      race_between();
      look_closer();
      race_again();
    }
    SearchResult result{.cells = {}, .counts = counts_, .is_complete = is_complete_ && !track_.is_interrupted()};
    for (auto& [bytes, cell] : cells_) result.cells.push_back(std::move(cell));
    return result;
  }

 private:
  // Seconds for each of so many races, of which the phase ends when that share of the time is used up.
  [[nodiscard]] double share_of(std::size_t races, double until) const {
    const double left = until * options_.seconds - (track_.now() - begin_);
    return std::max(left / static_cast<double>(std::max<std::size_t>(races, 1)), kLeastSeconds);
  }
  [[nodiscard]] bool has_time(double until) {
    if (track_.is_interrupted()) return false;
    if (track_.now() - begin_ < until * options_.seconds) return true;
    is_complete_ = false;
    return false;
  }
  // Seconds that a race takes for each way, by what the nearest size took; 0: that is not known.
  [[nodiscard]] double cost_of_way(std::uint64_t bytes) const {
    const auto near = costs_.lower_bound(bytes);
    if (near == costs_.end()) return 0;
    return near->second * static_cast<double>(bytes) / static_cast<double>(near->first);
  }
  // The same for a race of so many ways.
  [[nodiscard]] bool has_time_for(std::uint64_t bytes, std::size_t ways, double until) {
    if (!has_time(until)) return false;
    const double expected = cost_of_way(bytes) * static_cast<double>(ways);
    if (track_.now() - begin_ + expected < until * options_.seconds) return true;
    is_complete_ = false;
    return false;
  }
  // Keeps only as many ways as can race in that time, together with so many others. Returns whether all were kept.
  bool keeps_all(std::vector<TableWay>& ways, std::uint64_t bytes, std::size_t others, double seconds) {
    const double cost = cost_of_way(bytes);
    const double affordable = cost > 0 ? std::max(seconds / cost - static_cast<double>(others), 0.0)
                                       : std::numeric_limits<double>::infinity();
    if (static_cast<double>(ways.size()) <= affordable) return true;
    is_complete_ = false;
    ways.resize(static_cast<std::size_t>(affordable));
    return false;
  }

  // A machine is quicker at one time than at another: so the times of a race count by how they stand to those of the
  // ways that have raced before. Of these, the mean of both, by their samples.
  static void take(std::vector<WayTime>& times, Cell& cell) {
    double sum = 0;
    std::size_t shared = 0;
    for (const WayTime& time : times)
      if (const WayTime* const old = cell.find(time.way)) {
        sum += std::log(old->us / time.us);
        ++shared;
      }
    const double scale = shared == 0 ? 1 : std::exp(sum / static_cast<double>(shared));
    for (WayTime& time : times) {
      time.us *= scale;
      time.low_us *= scale;
      time.high_us *= scale;
      const auto old =
          std::find_if(cell.times.begin(), cell.times.end(), [&](const WayTime& each) { return each.way == time.way; });
      if (old == cell.times.end()) {
        cell.times.push_back(std::move(time));
        continue;
      }
      const auto all = static_cast<double>(std::max<std::uint64_t>(old->samples + time.samples, 1));
      const double share = all > 1 ? static_cast<double>(time.samples) / all : 0.5;
      old->us = std::exp((1 - share) * std::log(old->us) + share * std::log(time.us));
      old->low_us = std::min(old->low_us, time.low_us);
      old->high_us = std::max(old->high_us, time.high_us);
      old->samples += time.samples;
    }
  }

  void race(std::uint64_t bytes, std::span<const TableWay> ways, double seconds, std::string_view phase) {
    ++counts_.races;
    counts_.ways_raced += ways.size();
    Cell& cell = cells_[bytes];
    cell.key = key_;
    cell.bytes = bytes;
    const double begin = track_.now();
    std::vector<WayTime> times = track_.race(key_, bytes, ways, seconds);
    costs_[bytes] = (track_.now() - begin) / static_cast<double>(std::max<std::size_t>(ways.size(), 1));
    take(times, cell);
    if (cell.times.empty())
      cells_.erase(bytes);
    else if (on_progress_)
      on_progress_(cell, phase);
  }

  [[nodiscard]] std::vector<std::uint64_t> coarse_sizes() const {
    std::vector<std::uint64_t> coarse;
    for (std::size_t i = 0; i < options_.sizes.size(); ++i)
      if (i % options_.stride == 0 || i + 1 == options_.sizes.size()) coarse.push_back(options_.sizes[i]);
    return coarse;
  }

  // The ways of the cell in the order of their times.
  [[nodiscard]] static std::vector<WayTime> ranking(const Cell& cell) {
    std::vector<WayTime> times = cell.times;
    std::sort(times.begin(), times.end(), [](const WayTime& a, const WayTime& b) { return a.us < b.us; });
    return times;
  }

  // Where races take long, the ways that were far behind at the size before are spared.
  [[nodiscard]] std::vector<TableWay> ways_for(std::uint64_t bytes) const {
    if (bytes < kLeastOfLong || cells_.empty()) return candidates_.first;
    const Cell& before = cells_.rbegin()->second;
    std::vector<TableWay> ways;
    for (const WayTime& time : ranking(before))
      if (contains(candidates_.first, time.way) && ways.size() < kMostOfLong &&
          before.regret_of(time.way) <= kFarBehind)
        ways.push_back(time.way);
    add(ways, candidates_.first.front());
    return ways;
  }

  void race_all_ways() {
    const std::vector<std::uint64_t> sizes = coarse_sizes();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (!has_time(kAllWays)) return;
      const std::vector<TableWay> ways = ways_for(sizes[i]);
      counts_.ways_spared += candidates_.first.size() - ways.size();
      race(sizes[i], ways, share_of(sizes.size() - i, kAllWays), "all ways");
    }
  }

  // The best way of each of the best algorithms.
  [[nodiscard]] std::vector<TableWay> incumbents_of(const Cell& cell) const {
    std::vector<TableWay> incumbents;
    const std::vector<WayTime> best = ranking(cell);
    for (const WayTime& each : best) {
      if (incumbents.size() == kMostIncumbents || each.us > best.front().us * options_.keep) break;
      const bool is_new = std::none_of(incumbents.begin(), incumbents.end(),
                                       [&](const TableWay& other) { return other.algorithm == each.way.algorithm; });
      if (is_new && !each.way.algorithm.empty()) incumbents.push_back(each.way);
    }
    return incumbents;
  }

  // Climbs from several algorithms, since the best may only suit the usual values. The best ways of the previous size
  // race first: they may have good values already.
  void race_neighbours() {
    if (!candidates_.neighbours) return;
    std::vector<std::uint64_t> sizes;
    for (const auto& [bytes, cell] : cells_) sizes.push_back(bytes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint64_t bytes = sizes[i];
      const double end = track_.now() + share_of(sizes.size() - i, kNeighbours);
      std::vector<TableWay> seen;
      for (int step = 0; step < kMostSteps && has_time(kNeighbours); ++step) {
        std::vector<TableWay> ways;
        const auto add_new = [&](const TableWay& way) {
          if (!contains(seen, way) && cells_[bytes].find(way) == nullptr) add(ways, way);
        };
        if (i > 0 && step == 0)
          for (const TableWay& way : incumbents_of(cells_[sizes[i - 1]])) add_new(way);
        const std::vector<TableWay> incumbents = incumbents_of(cells_[bytes]);
        for (const TableWay& way : incumbents)
          for (const TableWay& other : candidates_.neighbours(way, bytes)) add_new(other);
        const bool are_all = keeps_all(ways, bytes, incumbents.size(), end - track_.now());
        if (ways.empty()) break;
        seen.insert(seen.end(), ways.begin(), ways.end());
        for (const TableWay& way : incumbents) climbed_.insert(way.algorithm);
        for (const TableWay& way : incumbents) add(ways, way);
        race(bytes, ways, share_of((sizes.size() - i) * 2, kNeighbours), "values");
        if (are_all && contains(incumbents, ranking(cells_[bytes]).front().way)) break;
      }
    }
  }

  // Of the raced sizes on either side, the ways that were near the best. Where these have different bests, a third may
  // be best between them, so more are let in.
  [[nodiscard]] std::vector<TableWay> good_beside(std::uint64_t bytes, std::size_t most) const {
    const auto after = cells_.upper_bound(bytes);
    std::vector<const Cell*> beside;
    if (after != cells_.end()) beside.push_back(&after->second);
    if (after != cells_.begin()) beside.push_back(&std::prev(after)->second);
    const bool is_change =
        beside.size() == 2 && !(beside[0]->best()->way.algorithm == beside[1]->best()->way.algorithm);
    const double keep = is_change ? options_.keep * options_.keep : options_.keep;
    std::vector<TableWay> ways;
    for (const Cell* const cell : beside) {
      std::size_t taken = 0;
      for (const WayTime& time : ranking(*cell)) {
        if (time.us > cell->best()->us * keep || taken == (is_change ? 2 * most : most)) break;
        add(ways, time.way);
        ++taken;
      }
    }
    // What happens if nothing is tuned is always there, to compare with.
    add(ways, candidates_.first.front());
    return ways;
  }

  // A way that pruning would spare here, by chance; none at most sizes.
  [[nodiscard]] const TableWay* pruned_way(std::uint64_t bytes, std::span<const TableWay> ways) const {
    const std::uint64_t chance = digest(std::to_string(bytes));
    if (chance % kCheckOneOf != 0) return nullptr;
    std::vector<const TableWay*> pruned;
    for (const TableWay& way : candidates_.first)
      if (!contains(ways, way)) pruned.push_back(&way);
    return pruned.empty() ? nullptr : pruned[chance / kCheckOneOf % pruned.size()];
  }

  void race_between() {
    constexpr std::size_t kMostOfASide = 5;
    std::vector<std::uint64_t> sizes;
    for (const std::uint64_t bytes : options_.sizes)
      if (!cells_.contains(bytes)) sizes.push_back(bytes);
    // From what all ways have raced at; what is raced here is too narrow for those that follow.
    std::map<std::uint64_t, std::vector<TableWay>> ways_at;
    for (const std::uint64_t bytes : sizes)
      if (!cells_.empty()) ways_at[bytes] = good_beside(bytes, kMostOfASide);
    std::size_t left = ways_at.size();
    for (auto& [bytes, ways] : ways_at) {
      if (!has_time_for(bytes, ways.size(), kBetween)) continue;
      const TableWay* const pruned = pruned_way(bytes, ways);
      std::vector<TableWay> all = ways;
      if (pruned != nullptr) all.push_back(*pruned);
      counts_.ways_spared += candidates_.first.size() - std::min(candidates_.first.size(), all.size());
      const double seconds = share_of(left--, kBetween);
      race(bytes, all, seconds, "between");
      race_unclimbed(bytes, seconds);
      const auto cell = cells_.find(bytes);
      if (pruned == nullptr || cell == cells_.end()) continue;
      ++counts_.pruning_checks;
      if (!(cell->second.best()->way == *pruned)) continue;
      // The margin was too small here: so all race after all.
      ++counts_.pruning_faults;
      if (has_time(kBetween)) race(bytes, candidates_.first, seconds, "all ways");
    }
  }

  // An algorithm that is good only between two sizes has not been tried with other values.
  void race_unclimbed(std::uint64_t bytes, double seconds) {
    if (!candidates_.neighbours || !cells_.contains(bytes)) return;
    std::vector<TableWay> ways;
    const std::vector<WayTime> times = ranking(cells_[bytes]);
    for (const WayTime& time : times) {
      const bool is_near = time.us <= times.front().us * kNearEnoughToClimb;
      if (!is_near || time.way.algorithm.empty() || climbed_.contains(time.way.algorithm)) continue;
      for (const TableWay& other : candidates_.neighbours(time.way, bytes)) add(ways, other);
    }
    if (ways.empty() || !has_time_for(bytes, ways.size(), kBetween)) return;
    add(ways, times.front().way);
    race(bytes, ways, seconds, "values");
  }

  // Where ways change between two sizes, the size in the middle.
  void look_closer() {
    std::vector<std::uint64_t> middles;
    for (auto low = cells_.begin(); low != cells_.end() && std::next(low) != cells_.end(); ++low) {
      const Cell& a = low->second;
      const Cell& b = std::next(low)->second;
      const TableWay& of_a = a.best()->way;
      const TableWay& of_b = b.best()->way;
      const auto is_good_at = [&](const Cell& cell, const TableWay& way) {
        return cell.find(way) != nullptr && cell.regret_of(way) <= options_.alike;
      };
      if (of_a == of_b || is_good_at(a, of_b) || is_good_at(b, of_a)) continue;
      const double middle = std::sqrt(static_cast<double>(a.bytes) * static_cast<double>(b.bytes));
      const std::uint64_t bytes = static_cast<std::uint64_t>(middle) / 8 * 8;
      if (bytes > a.bytes && bytes < b.bytes) middles.push_back(bytes);
    }
    for (std::size_t i = 0; i < middles.size(); ++i) {
      if (!has_time(kCloser)) return;
      race(middles[i], good_beside(middles[i], 3), share_of(middles.size() - i, kCloser), "closer");
    }
  }

  // The best of each size again, in new processes: of many that are alike, the one that looked best was in luck.
  void race_again() {
    std::vector<std::uint64_t> sizes;
    for (const auto& [bytes, cell] : cells_)
      if (cell.times.size() > 1) sizes.push_back(bytes);
    const int kLaunches = 2;
    for (int launch = 0; launch < kLaunches; ++launch) {
      if (!has_time(1)) return;
      track_.relaunch();
      const double until = kCloser + (1 - kCloser) * (launch + 1) / kLaunches;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (!has_time_for(sizes[i], options_.finalists, 1)) continue;
        std::vector<TableWay> ways;
        for (const WayTime& time : ranking(cells_[sizes[i]]))
          if (ways.size() < options_.finalists && time.us <= cells_[sizes[i]].best()->us * options_.keep)
            ways.push_back(time.way);
        add(ways, candidates_.first.front());
        if (ways.size() > 1) race(sizes[i], ways, share_of(sizes.size() - i, until), "again");
      }
    }
  }

  void race_everything() {
    for (const std::uint64_t bytes : options_.sizes) {
      std::vector<TableWay> ways = candidates_.first;
      for (std::size_t each = 0; each < ways.size() && candidates_.neighbours; ++each)
        for (const TableWay& other : candidates_.neighbours(TableWay(ways[each]), bytes)) add(ways, other);
      if (!has_time(1)) return;
      if (options_.is_exact && !cells_.empty()) {
        race_possible_winners(bytes, ways);
      } else {
        race(bytes, ways, options_.seconds / static_cast<double>(options_.sizes.size()), "everything");
      }
    }
  }

  // The best few of the size before give a time to beat; then those that may beat it.
  void race_possible_winners(std::uint64_t bytes, const std::vector<TableWay>& ways) {
    std::vector<TableWay> first;
    for (const WayTime& time : ranking(cells_.rbegin()->second))
      if (first.size() < kMostIncumbents && contains(ways, time.way)) first.push_back(time.way);
    race(bytes, first, options_.seconds, "everything");
    const auto cell = cells_.find(bytes);
    const double to_beat = cell == cells_.end() ? std::numeric_limits<double>::infinity() : cell->second.best()->us;
    std::vector<TableWay> possible;
    for (const TableWay& way : ways) {
      if (contains(first, way)) continue;
      const bool is_beaten = std::any_of(cells_.begin(), cells_.end(), [&](const auto& smaller) {
        const WayTime* const time = smaller.second.find(way);
        return smaller.first < bytes && time != nullptr && time->us >= to_beat;
      });
      if (is_beaten) {
        ++counts_.ways_spared;
      } else {
        possible.push_back(way);
      }
    }
    if (!possible.empty() && has_time(1)) race(bytes, possible, options_.seconds, "everything");
  }

  const CaseKey& key_;
  const Candidates& candidates_;
  const SearchOptions& options_;
  Track& track_;
  const OnProgress& on_progress_;
  double begin_ = 0;
  bool is_complete_ = true;
  SearchCounts counts_;
  std::set<std::string> climbed_;  // algorithms whose neighbours have raced somewhere
  std::map<std::uint64_t, Cell> cells_;
  std::map<std::uint64_t, double> costs_;  // seconds that a way took in the last race of the size
};

}  // namespace

SearchResult search(const CaseKey& key, const Candidates& candidates, const SearchOptions& options, Track& track,
                    const OnProgress& on_progress) {
  return Searcher(key, candidates, options, track, on_progress).run();
}

}  // namespace tutti::tune
