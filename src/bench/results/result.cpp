// SPDX-License-Identifier: Apache-2.0
#include "bench/results/result.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

constexpr std::array<std::string_view, 4> kOutcomes = {"ok", "wrong", "skipped", "error"};
constexpr std::array<std::string_view, 6> kSyncs = {"round", "barrier", "program", "wall", "meeting", "virtual"};
// Those that are asked for.
constexpr std::array<Sync, 3> kAsked = {Sync::round, Sync::barrier, Sync::meeting};
constexpr std::array<std::string_view, 3> kObeyed = {"confirmed", "ignored", "unverifiable"};

template <typename Named, std::size_t kCount>
std::optional<Named> named(const std::array<std::string_view, kCount>& names, std::string_view name) {
  for (std::size_t each = 0; each < kCount; ++each)
    if (same_name(names[each], name)) return static_cast<Named>(each);
  return std::nullopt;
}

// Between the parts of a key: what no name or value has.
constexpr char kSeparator = '\x1f';

std::string key_with_launch(const Row& row, int launch) {
  std::string key =
      fmt::format("{}{}{}{}{}{}{}", row.bench, kSeparator, row.peer, kSeparator, row.num_ranks, kSeparator, launch);
  for (const Setting& setting : row.settings)
    key += fmt::format("{}{}{}{}", kSeparator, setting.name, setting.value ? '=' : '!', setting.value.value_or(""));
  for (const auto& [name, value] : row.point.values) key += fmt::format("{}{}={}", kSeparator, name, value.text());
  return key;
}

// The medians of parts of the numbers that follow each other, 0 where a part is empty.
std::vector<double> medians_of_parts(std::span<const double> numbers, std::span<const std::uint32_t> sizes) {
  std::vector<double> medians;
  std::size_t first = 0;
  for (const std::uint32_t size : sizes) {
    medians.push_back(size == 0 ? 0 : median_of(numbers.subspan(first, size)));
    first += size;
  }
  return medians;
}

std::vector<double> without_gaps(std::vector<double> medians) {
  std::erase(medians, 0.0);
  return medians;
}

// From good to bad.
int badness(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok: return 0;
    case Outcome::skipped: return 1;
    case Outcome::error: return 2;
    case Outcome::wrong: return 3;
  }
  return 3;
}

// From good to bad.
int badness(State::Obeyed obeyed) {
  switch (obeyed) {
    case State::Obeyed::confirmed: return 0;
    case State::Obeyed::unverifiable: return 1;
    case State::Obeyed::ignored: return 2;
  }
  return 2;
}

constexpr std::string_view kBetween = "; ";

// Behind what is told already, unless it is among that.
void tell(std::string& all, std::string_view words) {
  const auto framed = [](std::string_view text) { return fmt::format("{0}{1}{0}", kBetween, text); };
  if (words.empty() || framed(all).find(framed(words)) != std::string::npos) return;
  all += fmt::format("{}{}", all.empty() ? "" : kBetween, words);
}

void tell_each(std::string& all, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(kBetween), words.size());
    tell(all, words.substr(0, end));
    words.remove_prefix(std::min(end + kBetween.size(), words.size()));
  }
}

// Adds another launch of the same case, but for its counters.
void join(Row& all, const Row& more) {
  if (badness(more.outcome) > badness(all.outcome)) {
    all.outcome = more.outcome;
    all.note = more.note;
  } else if (more.outcome == all.outcome) {
    tell_each(all.note, more.note);
  }
  all.samples.insert(all.samples.end(), more.samples.begin(), more.samples.end());
  all.rounds.insert(all.rounds.end(), more.rounds.begin(), more.rounds.end());
  all.launches.push_back(static_cast<std::uint32_t>(more.rounds.size()));
  all.invalid += more.invalid;
  all.is_checked = all.is_checked && more.is_checked;
  all.stop = std::max(all.stop, more.stop);
  all.shares_cores = all.shares_cores || more.shares_cores;
  tell(all.ran, more.ran);
  for (const auto& [name, evidence] : more.evidence) {
    const auto [place, is_new] = all.evidence.try_emplace(name, evidence);
    if (!is_new && badness(evidence.obeyed) > badness(place->second.obeyed)) place->second = evidence;
  }
}

// What each launch counted, by name.
using Counted = std::map<std::string, std::vector<double>>;

void count(Counted& all, const Row& row) {
  for (const auto& [name, value] : row.counters) {
    std::vector<double>& values = all[name];
    if (!std::isnan(value)) values.push_back(value);
  }
}

Interval interval_of_prediction(const Row& row, double time) {
  const auto low = row.counters.find(std::string(kPredictedLow));
  const auto high = row.counters.find(std::string(kPredictedHigh));
  if (low == row.counters.end() || high == row.counters.end()) return {time, time};
  return {low->second * 1e3, high->second * 1e3};
}

}  // namespace

std::string_view name_of(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }
std::optional<Outcome> outcome_from_name(std::string_view name) { return named<Outcome>(kOutcomes, name); }
std::string_view name_of(Sync sync) { return kSyncs[static_cast<std::size_t>(sync)]; }
std::optional<Sync> sync_from_name(std::string_view name) {
  const auto sync = named<Sync>(kSyncs, name);
  const bool is_asked = sync && std::find(kAsked.begin(), kAsked.end(), *sync) != kAsked.end();
  return is_asked ? sync : std::nullopt;
}
std::string_view name_of(State::Obeyed obeyed) { return kObeyed[static_cast<std::size_t>(obeyed)]; }

Traffic traffic_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce: return Traffic::all_reduce;
    case Collective::all_gather:
    case Collective::all_gather_v: return Traffic::all_gather;
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_v: return Traffic::reduce_scatter;
    case Collective::all_to_all:
    case Collective::all_to_all_v: return Traffic::all_to_all;
    case Collective::gather:
    case Collective::gather_v: return Traffic::gather;
    case Collective::scatter:
    case Collective::scatter_v: return Traffic::scatter;
    case Collective::broadcast:
    case Collective::barrier: return Traffic::broadcast;
    case Collective::reduce:
    case Collective::scan:
    case Collective::exclusive_scan: return Traffic::reduce;
  }
  return Traffic::send_recv;
}

std::optional<double> bus_factor(Traffic traffic, int num_ranks) {
  if (num_ranks < 2) return std::nullopt;
  const double others = static_cast<double>(num_ranks - 1) / num_ranks;
  switch (traffic) {
    case Traffic::all_reduce: return 2 * others;
    case Traffic::all_gather:
    case Traffic::reduce_scatter:
    case Traffic::all_to_all:
    case Traffic::gather:
    case Traffic::scatter: return others;
    case Traffic::broadcast:
    case Traffic::reduce:
    case Traffic::send_recv: return 1.0;
  }
  return std::nullopt;
}

std::string key_of(const Row& row) { return key_with_launch(row, row.launch); }

std::vector<double> medians_of_rounds(const Row& row) {
  return row.rounds.empty() ? row.samples : medians_of_parts(row.samples, row.rounds);
}

std::vector<double> medians_of_launches(const Row& row) {
  if (row.launches.empty()) return {median_of(row.samples)};
  std::vector<std::uint32_t> samples;
  std::size_t first = 0;
  for (const std::uint32_t rounds : row.launches) {
    const auto begin = row.rounds.begin() + static_cast<std::ptrdiff_t>(first);
    samples.push_back(std::accumulate(begin, begin + rounds, 0U));
    first += rounds;
  }
  return medians_of_parts(row.samples, samples);
}

Summary summarize(const Row& row) {
  const bool several = row.launches.size() > 1;
  const std::vector<double> independent = without_gaps(several ? medians_of_launches(row) : medians_of_rounds(row));
  Summary summary = summarize(row.samples, independent);
  if (several && !independent.empty()) summary.median = median_of(independent);
  if (is_exact(row)) summary.interval = interval_of_prediction(row, summary.median);
  return summary;
}

Ratio compare_paired(const Row& a, const Row& b) {
  if (is_exact(a) || is_exact(b)) return compare_apart(a, b);
  const std::vector<double> of_a = medians_of_rounds(a);
  const std::vector<double> of_b = medians_of_rounds(b);
  const auto part = [](const std::vector<double>& medians, std::size_t first, std::size_t count) {
    return std::span(medians)
        .subspan(std::min(first, medians.size()))
        .first(std::min(count, medians.size() - std::min(first, medians.size())));
  };
  if (a.launches.size() < 2 || a.launches.size() != b.launches.size()) {
    const std::size_t both = std::min(of_a.size(), of_b.size());
    return compare(part(of_a, 0, both), part(of_b, 0, both));
  }
  std::vector<double> ratios;
  std::size_t first_of_a = 0;
  std::size_t first_of_b = 0;
  for (std::size_t launch = 0; launch < a.launches.size(); ++launch) {
    const std::size_t both = std::min(a.launches[launch], b.launches[launch]);
    const std::span<const double> mine = part(of_a, first_of_a, both);
    const std::span<const double> others = part(of_b, first_of_b, both);
    const bool any = std::any_of(mine.begin(), mine.end(), [&](const double& median) {
      return median > 0 && others[static_cast<std::size_t>(&median - mine.data())] > 0;
    });
    if (any) ratios.push_back(compare(mine, others).ratio);
    first_of_a += a.launches[launch];
    first_of_b += b.launches[launch];
  }
  return over_launches(ratios);
}

Ratio compare_apart(const Row& a, const Row& b) {
  const Summary of_a = summarize(a);
  const Summary of_b = summarize(b);
  Ratio ratio;
  if (of_a.median == 0 && of_b.median == 0) {
    ratio.verdict = Verdict::same;
    return ratio;
  }
  ratio.ratio = of_b.median / of_a.median;
  if (of_a.median == 0 || of_b.median == 0) {
    if (of_a.interval && of_b.interval) ratio.verdict = of_a.median == 0 ? Verdict::faster : Verdict::slower;
    return ratio;
  }
  if (!of_a.interval || !of_b.interval) return ratio;
  ratio.interval = Interval{of_b.interval->low / of_a.interval->high, of_b.interval->high / of_a.interval->low};
  ratio.verdict = verdict_of(ratio);
  return ratio;
}

std::vector<Row> join_launches(const std::vector<Row>& rows) {
  std::vector<Row> joined;
  std::vector<Counted> counted;
  std::unordered_map<std::string, std::size_t> places;
  for (const Row& row : rows) {
    const auto [place, is_new] = places.try_emplace(key_with_launch(row, 0), joined.size());
    if (is_new) {
      joined.push_back(row);
      joined.back().launches = {static_cast<std::uint32_t>(row.rounds.size())};
      counted.emplace_back();
    } else {
      join(joined[place->second], row);
    }
    count(counted[place->second], row);
  }
  for (std::size_t each = 0; each < joined.size(); ++each)
    for (const auto& [name, values] : counted[each])
      joined[each].counters[name] = values.empty() ? std::numeric_limits<double>::quiet_NaN() : median_of(values);
  return joined;
}

}  // namespace tutti::harness
