// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/program/settings_race.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/axes/case.hpp"
#include "bench/measure/race.hpp"

namespace tutti::cli {

namespace {

// Medians of the rounds that there are.
std::optional<double> median_of_times(const std::vector<double>& times) {
  std::vector<double> present;
  for (const double each : times)
    if (each > 0) present.push_back(each);
  if (present.empty()) return std::nullopt;
  return harness::median_of(present);
}

// Of rounds in which both have a time.
harness::Ratio ratio_of(const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(before.size(), after.size()); ++round)
    if (before[round] > 0 && after[round] > 0) ratios.push_back(before[round] / after[round]);
  return ratios.empty() ? harness::Ratio() : harness::over_launches(ratios);
}

}  // namespace

TimedCase case_of(const harness::Row& row) {
  TimedCase timed{.num_ranks = row.num_ranks, .what = {}, .bytes = {}};
  for (const auto& [name, value] : row.point.values)
    if (name != "bytes") timed.what += fmt::format("{}{}={}", timed.what.empty() ? "" : ", ", name, value.text());
  const harness::Value* const bytes = row.point.find("bytes");
  if (row.bytes) timed.bytes = static_cast<std::uint64_t>(*row.bytes);
  if (!row.bytes && bytes != nullptr && bytes->is_integer() && bytes->integer() >= 0)
    timed.bytes = static_cast<std::uint64_t>(bytes->integer());
  return timed;
}

std::string words_of(const Settings& settings) {
  std::string words;
  for (const harness::Setting& each : settings)
    words += fmt::format("{}{}{}", words.empty() ? "" : " ", each.name, each.value ? "=" + *each.value : " unset");
  return words.empty() ? "as it is" : words;
}

SettingsRace::SettingsRace(std::vector<Settings> settings)
    : settings_(std::move(settings)), contestants_(settings_.size()) {}

std::size_t SettingsRace::num_in() const {
  return static_cast<std::size_t>(
      std::count_if(contestants_.begin(), contestants_.end(), [](const Contestant& each) { return !each.is_out; }));
}

void SettingsRace::add_round(const std::vector<harness::Row>& rows) {
  ++rounds_;
  for (const harness::Row& row : rows) {
    const auto found = std::find(settings_.begin(), settings_.end(), row.settings);
    if (found == settings_.end()) continue;
    Contestant& contestant = contestants_[static_cast<std::size_t>(found - settings_.begin())];
    if (row.outcome != harness::Outcome::ok || row.samples.empty()) {
      if (row.outcome == harness::Outcome::skipped) continue;
      if (!contestant.is_out)
        failures_.push_back(fmt::format("{}: {}", words_of(*found), row.note.empty() ? "no time" : row.note));
      contestant.is_out = true;
      continue;
    }
    std::vector<double>& times = contestant.times_us[case_of(row)];
    times.resize(rounds_);
    times.back() = harness::summarize(row).median / 1e3;
  }
  drop_slow_ones();
}

bool SettingsRace::is_slower_everywhere(const Contestant& contestant) const {
  for (const auto& [timed, times] : contestant.times_us) {
    const bool is_beaten = std::any_of(contestants_.begin(), contestants_.end(), [&](const Contestant& other) {
      const auto found = other.times_us.find(timed);
      return &other != &contestant && !other.is_out && found != other.times_us.end() &&
             harness::is_surely_slower(times, found->second);
    });
    if (!is_beaten) return false;
  }
  return !contestant.times_us.empty();
}

void SettingsRace::drop_slow_ones() {
  std::vector<std::size_t> slow;
  for (std::size_t place = 1; place < contestants_.size(); ++place)
    if (!contestants_[place].is_out && is_slower_everywhere(contestants_[place])) slow.push_back(place);
  for (const std::size_t place : slow) contestants_[place].is_out = true;
}

Choices SettingsRace::choices() const {
  Choices choices;
  for (const auto& [timed, before] : contestants_.front().times_us) {
    std::size_t& choice = choices[timed];
    std::pair<bool, double> best = {false, 1};  // surely faster, how many times as fast
    for (std::size_t place = 1; place < contestants_.size(); ++place) {
      const auto found = contestants_[place].times_us.find(timed);
      if (contestants_[place].is_out || found == contestants_[place].times_us.end()) continue;
      const harness::Ratio ratio = ratio_of(before, found->second);
      const std::pair<bool, double> rank = {ratio.verdict == harness::Verdict::faster, ratio.ratio};
      if (rank <= best) continue;
      best = rank;
      choice = place;
    }
  }
  return choices;
}

std::vector<BestSettings> SettingsRace::judged(const Choices& choices) const {
  std::vector<BestSettings> all;
  for (const auto& [timed, place] : choices) {
    const auto before = contestants_.front().times_us.find(timed);
    if (before == contestants_.front().times_us.end()) continue;
    const std::optional<double> before_us = median_of_times(before->second);
    if (!before_us) continue;
    BestSettings best;
    best.timed = timed;
    best.before_us = best.best_us = *before_us;
    best.rounds = static_cast<std::size_t>(
        std::count_if(before->second.begin(), before->second.end(), [](double us) { return us > 0; }));
    const auto after = contestants_[place].times_us.find(timed);
    if (place != 0 && !contestants_[place].is_out && after != contestants_[place].times_us.end()) {
      best.chosen = place;
      best.ratio = ratio_of(before->second, after->second);
      best.best_us = best.before_us / best.ratio.ratio;
      if (best.ratio.verdict == harness::Verdict::faster) best.best = place;
    }
    all.push_back(best);
  }
  return all;
}

harness::Ratio SettingsRace::judged_overall(std::size_t place) const {
  // A round is a sample: the geometric mean of its ratios over all cases.
  std::vector<double> ratios;
  for (std::size_t round = 0; round < rounds_; ++round) {
    double sum = 0;
    std::size_t cases = 0;
    for (const auto& [timed, before] : contestants_.front().times_us) {
      const auto found = contestants_[place].times_us.find(timed);
      if (found == contestants_[place].times_us.end() || round >= before.size() || round >= found->second.size())
        continue;
      if (before[round] <= 0 || found->second[round] <= 0) continue;
      sum += std::log(before[round] / found->second[round]);
      ++cases;
    }
    if (cases > 0) ratios.push_back(std::exp(sum / static_cast<double>(cases)));
  }
  return ratios.empty() ? harness::Ratio() : harness::over_launches(ratios);
}

std::size_t SettingsRace::choice_overall() const {
  std::size_t choice = 0;
  double most = 1;
  for (std::size_t place = 1; place < contestants_.size(); ++place) {
    if (contestants_[place].is_out) continue;
    const harness::Ratio ratio = judged_overall(place);
    if (ratio.ratio <= most) continue;
    most = ratio.ratio;
    choice = place;
  }
  return choice;
}

}  // namespace tutti::cli
