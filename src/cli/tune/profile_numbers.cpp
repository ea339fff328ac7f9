// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/profile_numbers.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "runtime/selection/profile_file.hpp"
#include "runtime/selection/shipped_profiles.hpp"

namespace tutti::cli {

namespace {

// Memory is not tuned; rules and ranges of attached copies are what the search finds itself.
constexpr std::string_view kNotTuned = "memory";
constexpr double kLeastGain = 0.01;    // in the mean, of logarithms
constexpr double kMostLoss = 0.02;     // at one size
constexpr std::size_t kMostTried = 4;  // of those that look better

document::TomlTable table_of(const NumberChange& change) { return change.numbers; }

DecisionTable with(const DecisionTable& table, std::span<const NumberChange> changes) {
  DecisionTable made = table;
  for (const NumberChange& change : changes)
    for (const document::TomlEntry& entry : table_of(change).entries) {
      std::erase_if(made.numbers.entries, [&](const document::TomlEntry& each) { return each.key == entry.key; });
      made.numbers.entries.push_back(entry);
    }
  return made;
}

// Of each table, the logarithms of how much longer it takes than the first, case by case; only of differences that are
// sure, so that noise adds up to nothing.
class NumberRaces {
 public:
  NumberRaces(std::span<const tune::Cell> cells, PeerTrack& track, const harness::MeasureOptions& measure)
      : cells_(cells), track_(track), measure_(measure) {}

  std::vector<std::vector<double>> losses(std::span<const DecisionTable> tables, double seconds) {
    std::vector<std::vector<harness::Setting>> settings;
    for (const DecisionTable& table : tables) {
      Result<std::vector<harness::Setting>> each = track_.settings_for(table);
      if (!each.ok()) return {};
      settings.push_back(std::move(*each));
    }
    std::vector<std::vector<double>> losses(tables.size());
    harness::RaceOptions options{.measure = measure_};
    options.drops = false;
    options.most_rounds = 12;
    const double begin = track_.now();
    for (std::size_t cell = 0; cell < cells_.size() && !track_.is_interrupted(); ++cell) {
      const double left = seconds - (track_.now() - begin);
      options.measure.budget.seconds = std::max(left / static_cast<double>(cells_.size() - cell), 0.03);
      const auto racers = track_.race_settings(cells_[cell].key, cells_[cell].bytes, settings, options);
      const std::vector<double> first = harness::medians_of_rounds(racers.front().row);
      for (std::size_t table = 0; table < tables.size(); ++table) {
        std::vector<double> mine = harness::medians_of_rounds(racers[table].row);
        if (racers[table].row.outcome != harness::Outcome::ok) mine.clear();
        const std::size_t rounds = std::min(first.size(), mine.size());
        if (rounds == 0) {
          losses[table].push_back(table == 0 ? 0 : 1);
          continue;
        }
        const harness::Ratio ratio = harness::compare(std::span(first).first(rounds), std::span(mine).first(rounds));
        const bool is_sure = ratio.interval && (ratio.interval->low > 1 || ratio.interval->high < 1);
        losses[table].push_back(is_sure ? std::log(ratio.ratio) : 0);
      }
    }
    return losses;
  }

 private:
  std::span<const tune::Cell> cells_;
  PeerTrack& track_;
  const harness::MeasureOptions& measure_;
};

double mean_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double each : numbers) sum += each;
  return numbers.empty() ? 0 : sum / static_cast<double>(numbers.size());
}

}  // namespace

std::vector<NumberChange> changes_of(std::string_view base_profile) {
  std::vector<NumberChange> changes;
  const Result<MachineProfile> base = find_shipped_profile(base_profile);
  if (!base.ok()) return changes;
  for (const ShippedProfile& shipped : shipped_profiles()) {
    if (same_name(shipped.name, base_profile)) continue;
    const Result<document::TomlTable> document = document::parse_document(shipped.text, shipped.name);
    if (!document.ok()) continue;
    for (const document::TomlEntry& entry : document->entries) {
      if (!std::holds_alternative<document::TomlTable>(entry.value.value) || entry.key == kNotTuned) continue;
      NumberChange change{.name = fmt::format("[{}] as {} has it", entry.key, shipped.name),
                          .section = entry.key,
                          .numbers = {{entry}}};
      MachineProfile changed = *base;
      if (!overrule(change.numbers, shipped.name, changed).ok()) continue;
      if (write_profile(changed) != write_profile(*base)) changes.push_back(std::move(change));
    }
  }
  return changes;
}

NumbersResult tune_numbers(const DecisionTable& table, std::vector<NumberChange> changes,
                           std::span<const tune::Cell> cells, double seconds, PeerTrack& track,
                           const harness::MeasureOptions& measure,
                           const std::function<void(const std::string&)>& tell) {
  NumbersResult result;
  NumberRaces races(cells, track, measure);
  std::vector<DecisionTable> tables = {table};
  for (const NumberChange& change : changes) tables.push_back(with(table, {&change, 1}));
  const std::vector<std::vector<double>> losses = races.losses(tables, seconds / 2);
  if (losses.empty()) return result;
  struct Promise {
    const NumberChange* change;
    double loss;
  };
  std::vector<Promise> promising;
  for (std::size_t each = 0; each < changes.size(); ++each) {
    const double loss = mean_of(losses[each + 1]);
    tell(fmt::format("{}: {:+.1f} %", changes[each].name, (std::exp(loss) - 1) * 100));
    if (loss < -kLeastGain) promising.push_back({&changes[each], loss});
  }
  std::sort(promising.begin(), promising.end(), [](const Promise& a, const Promise& b) { return a.loss < b.loss; });
  if (promising.size() > kMostTried) promising.resize(kMostTried);
  std::vector<NumberChange> taken;
  for (std::size_t each = 0; each < promising.size() && !track.is_interrupted(); ++each) {
    const NumberChange& change = *promising[each].change;
    if (std::any_of(taken.begin(), taken.end(), [&](const auto& other) { return other.section == change.section; }))
      continue;
    std::vector<NumberChange> both = taken;
    both.push_back(change);
    const std::vector<DecisionTable> pair = {with(table, taken), with(table, both)};
    track.relaunch();
    const auto again = races.losses(pair, seconds / 2 / static_cast<double>(promising.size()));
    if (again.empty()) break;
    const double loss = mean_of(again[1]);
    const double most = again[1].empty() ? 0 : *std::max_element(again[1].begin(), again[1].end());
    const bool is_better = loss < -kLeastGain && most <= std::log1p(kMostLoss);
    tell(fmt::format("{}, again: {:+.1f} %, at most {:+.1f} %: {}", change.name, (std::exp(loss) - 1) * 100,
                     (std::exp(most) - 1) * 100, is_better ? "taken" : "left"));
    if (!is_better) continue;
    taken = std::move(both);
    result.taken.push_back(change.name);
    result.gain *= std::exp(-loss);
  }
  result.numbers = with(table, taken).numbers;
  return result;
}

}  // namespace tutti::cli
