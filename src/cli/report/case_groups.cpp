// SPDX-License-Identifier: Apache-2.0
#include "cli/report/case_groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/report/answer.hpp"

namespace tutti::cli {

namespace {

using harness::ComparedCase;
using harness::Comparison;

// "ranks=4 type=f32" as "4 ranks, type=f32".
std::string in_group_words(std::string_view group) {
  constexpr std::string_view kRanks = "ranks=";
  std::string words;
  for (const std::string_view each : split(group, ' ')) {
    if (each.empty()) continue;
    words += words.empty() ? "" : ", ";
    if (!each.starts_with(kRanks)) {
      words += each;
      continue;
    }
    const std::string_view number = each.substr(kRanks.size());
    words += std::string(number) + (number == "1" ? " rank" : " ranks");
  }
  return words;
}

double number_in_label(const std::string& label) {
  const Result<Bytes> bytes = parse_bytes(label);
  return bytes.ok() ? static_cast<double>(bytes->value()) : std::strtod(label.c_str(), nullptr);
}

// How far each is from the best of each case, on average; those with fewer times than others do not count.
std::optional<std::size_t> leader_of(const Comparison& comparison, const CaseGroup& group) {
  struct Sum {
    double logs = 0;
    std::size_t count = 0;
  };
  std::map<std::size_t, Sum> sums;
  for (const std::size_t number : group.cases) {
    const ComparedCase& one = comparison.cases[number];
    std::vector<std::pair<std::size_t, double>> medians;
    double best = std::numeric_limits<double>::max();
    for (const std::size_t each : group.competitors)
      if (const std::optional<double> median = median_in(one, each); median && *median > 0) {
        medians.emplace_back(each, *median);
        best = std::min(best, *median);
      }
    for (const auto& [each, median] : medians) {
      sums[each].logs += std::log(median / best);
      ++sums[each].count;
    }
  }
  std::optional<std::size_t> leader;
  for (const auto& [each, sum] : sums) {
    if (leader) {
      const Sum& other = sums[*leader];
      const double mean = sum.logs / static_cast<double>(sum.count);
      const double others = other.logs / static_cast<double>(other.count);
      if (sum.count < other.count || (sum.count == other.count && mean >= others)) continue;
    }
    leader = each;
  }
  return leader;
}

// Of the times of one case, how far the best is ahead of the next that can be told from it.
std::optional<double> lead_in(const harness::Standing& standing) {
  const std::optional<double> best = median_in(standing.scored, *standing.best);
  std::optional<double> next;
  for (std::size_t each = 0; each < standing.scored.rows.size(); ++each) {
    const bool is_tied = std::find(standing.ties.begin(), standing.ties.end(), each) != standing.ties.end();
    if (each == *standing.best || is_tied) continue;
    if (const std::optional<double> median = median_in(standing.scored, each); median && (!next || *median < *next))
      next = median;
  }
  return best && next && *best > 0 ? std::optional(*next / *best) : std::nullopt;
}

}  // namespace

std::optional<double> median_in(const ComparedCase& one, std::size_t competitor) {
  const std::optional<harness::Row>& row = one.rows[competitor];
  if (!row || row->outcome != harness::Outcome::ok || row->samples.empty()) return std::nullopt;
  return summarize(*row).median;
}

std::optional<PairStanding> standing_of(const Comparison& comparison, const std::vector<std::size_t>& cases,
                                        std::size_t one, std::size_t other) {
  PairStanding standing{.other = other};
  double logs = 0;
  for (const std::size_t number : cases) {
    const std::optional<harness::Ratio> ratio = comparison.compare(comparison.cases[number], one, other);
    if (!ratio || ratio->ratio <= 0 || !std::isfinite(ratio->ratio)) continue;
    standing.least = standing.num_cases == 0 ? ratio->ratio : std::min(standing.least, ratio->ratio);
    standing.greatest = standing.num_cases == 0 ? ratio->ratio : std::max(standing.greatest, ratio->ratio);
    logs += std::log(ratio->ratio);
    ++standing.num_cases;
    ++standing.verdicts.at(static_cast<std::size_t>(ratio->verdict));
  }
  if (standing.num_cases == 0) return std::nullopt;
  standing.mean = std::exp(logs / static_cast<double>(standing.num_cases));
  return standing;
}

std::vector<CaseGroup> groups_of(const Comparison& comparison, const harness::CaseNames& names) {
  std::vector<CaseGroup> groups(names.groups.size());
  for (std::size_t each = 0; each < groups.size(); ++each) {
    groups[each].name = in_group_words(names.groups[each]);
    groups[each].has_sizes = names.are_numbers;
    groups[each].column = names.column;
  }
  for (std::size_t number = 0; number < names.group_of.size(); ++number)
    groups[names.group_of[number]].cases.push_back(number);
  for (CaseGroup& group : groups) {
    if (group.has_sizes)
      std::stable_sort(group.cases.begin(), group.cases.end(), [&](std::size_t a, std::size_t b) {
        return number_in_label(names.labels[a]) < number_in_label(names.labels[b]);
      });
    for (const std::size_t number : group.cases)
      group.labels.push_back(group.column == "bytes" ? size_words(names.labels[number]) : names.labels[number]);
    for (std::size_t each = 0; each < comparison.competitors.size(); ++each)
      if (std::any_of(group.cases.begin(), group.cases.end(),
                      [&](std::size_t number) { return median_in(comparison.cases[number], each).has_value(); }))
        group.competitors.push_back(each);
    group.leader = leader_of(comparison, group);
  }
  return groups;
}

std::vector<Stretch> stretches_of(const CaseGroup& group, const std::vector<harness::Standing>& standings) {
  std::vector<Stretch> stretches;
  for (std::size_t place = 0; place < group.cases.size(); ++place) {
    const harness::Standing& standing = standings[group.cases[place]];
    if (!standing.best) continue;
    const auto is_among = [&](std::size_t one) {
      return std::find(standing.ties.begin(), standing.ties.end(), one) != standing.ties.end();
    };
    // Who cannot be told from the best goes on.
    const bool goes_on = !stretches.empty() && group.has_sizes &&
                         (stretches.back().best == *standing.best || is_among(stretches.back().best));
    if (!goes_on) {
      stretches.emplace_back();
      stretches.back().first = group.labels[place];
      stretches.back().best = *standing.best;
    }
    Stretch& stretch = stretches.back();
    stretch.last = group.labels[place];
    ++stretch.num_cases;
    std::vector<std::size_t> others = standing.ties;
    others.push_back(*standing.best);
    for (const std::size_t each : others)
      if (each != stretch.best && std::find(stretch.ties.begin(), stretch.ties.end(), each) == stretch.ties.end())
        stretch.ties.push_back(each);
    const std::optional<double> lead = lead_in(standing);
    if (!lead) continue;
    stretch.least_lead = std::min(stretch.least_lead.value_or(*lead), *lead);
    stretch.greatest_lead = std::max(stretch.greatest_lead.value_or(*lead), *lead);
  }
  return stretches;
}

}  // namespace tutti::cli
