// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/tune_workload.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "bench/views/comparison_words.hpp"

namespace tutti::cli {

namespace {

constexpr std::size_t kMostSizes = 24;  // of a case
constexpr double kLeastShare = 0.02;    // of the budget, for each case

// Of a barrier there is nothing to choose, and tables do not hold collectives whose blocks differ in size.
bool can_be_tuned(const WorkloadEntry& entry, std::uint32_t most_ranks) {
  return entry.collective != Collective::barrier && !facts_of(entry.collective).varies && entry.ranks >= 2 &&
         entry.ranks <= most_ranks && entry.bytes > 0;
}

tune::CaseKey key_of(const WorkloadEntry& entry, TableMemory memory) {
  return {.collective = entry.collective, .ranks = entry.ranks, .memory = memory, .types = class_of(entry.type)};
}

// In any unit: with times microseconds, without them calls.
double weight_of(const WorkloadEntry& entry, bool has_times) {
  return static_cast<double>(entry.calls) * (has_times ? entry.measured_us : 1);
}

// The sizes that weigh most, in ascending order.
std::vector<std::uint64_t> heaviest(const std::map<std::uint64_t, double>& weights) {
  std::vector<std::pair<double, std::uint64_t>> by_weight;
  for (const auto& [bytes, weight] : weights) by_weight.emplace_back(weight, bytes);
  std::sort(by_weight.rbegin(), by_weight.rend());
  if (by_weight.size() > kMostSizes) by_weight.resize(kMostSizes);
  std::vector<std::uint64_t> sizes;
  for (const auto& [weight, bytes] : by_weight) sizes.push_back(bytes);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

void set_shares(std::vector<TuneCase>& cases, const std::vector<double>& weights) {
  double all = 0;
  for (const double weight : weights) all += weight;
  double shares = 0;
  for (std::size_t each = 0; each < cases.size(); ++each) {
    cases[each].share = std::max(all > 0 ? weights[each] / all : 1, kLeastShare);
    shares += cases[each].share;
  }
  for (TuneCase& each : cases) each.share /= shares;
}

std::map<TypeClass, Type> types_of(const std::map<std::pair<TypeClass, Type>, double>& weights) {
  std::map<TypeClass, Type> types;
  std::map<TypeClass, double> most;
  for (const auto& [both, weight] : weights) {
    const auto& [types_class, type] = both;
    if (types.contains(types_class) && most[types_class] >= weight) continue;
    types[types_class] = type;
    most[types_class] = weight;
  }
  return types;
}

}  // namespace

WorkloadCases cases_of(const Workload& workload, TableMemory memory, std::uint32_t most_ranks) {
  const bool has_times = std::any_of(workload.entries.begin(), workload.entries.end(),
                                     [](const WorkloadEntry& entry) { return entry.measured_us > 0; });
  std::map<tune::CaseKey, std::map<std::uint64_t, double>> sizes;
  std::map<std::pair<TypeClass, Type>, double> types;
  std::map<std::string, std::uint64_t> left_out;
  for (const WorkloadEntry& entry : workload.entries) {
    if (!can_be_tuned(entry, most_ranks)) {
      left_out[fmt::format("{} on {}", name_of(entry.collective), counted(entry.ranks, "rank"))] += entry.calls;
      continue;
    }
    const double weight = weight_of(entry, has_times);
    sizes[key_of(entry, memory)][entry.bytes] += weight;
    types[{class_of(entry.type), entry.type}] += weight;
  }
  WorkloadCases made;
  std::vector<double> weights;
  for (const auto& [key, of_key] : sizes) {
    made.cases.push_back({.key = key, .sizes = heaviest(of_key)});
    double& weight = weights.emplace_back(0);
    for (const auto& [bytes, each] : of_key) weight += each;
    if (of_key.size() > kMostSizes)
      made.notes.push_back(fmt::format("{} has {} sizes: the {} that take most of the time are tuned",
                                       name_of(key.collective), of_key.size(), kMostSizes));
  }
  set_shares(made.cases, weights);
  made.types = types_of(types);
  for (const auto& [what, calls] : left_out)
    made.notes.push_back(fmt::format("left out {} of {}: they cannot be tuned", counted(calls, "call"), what));
  return made;
}

std::string gain_of(const Workload& workload, std::span<const Scored> scored) {
  double before = 0;
  double after = 0;
  double computing = 0;
  std::uint64_t missing = 0;
  for (const WorkloadEntry& entry : workload.entries) {
    const auto calls = static_cast<double>(entry.calls);
    computing += entry.compute_us * calls;
    const auto found = std::find_if(scored.begin(), scored.end(), [&](const Scored& each) {
      return each.key == key_of(entry, each.key.memory) && each.bytes == entry.bytes;
    });
    if (found == scored.end()) {
      missing += entry.calls;
      continue;
    }
    before += found->before_us * calls;
    after += (found->is_undone ? found->before_us : found->before_us / found->ratio.ratio) * calls;
  }
  if (before <= 0) return "none of the program's calls was scored";
  std::string text = fmt::format("the program's collectives: {} before, {} after, {:.3f} times as fast",
                                 harness::time_text(before * 1e3), harness::time_text(after * 1e3), before / after);
  if (computing > 0)
    text += fmt::format("; with {} of computing the whole is {:.3f} times as fast", harness::time_text(computing * 1e3),
                        (before + computing) / (after + computing));
  if (missing > 0) text += fmt::format("; without {} that could not be scored", counted(missing, "call"));
  return text;
}

}  // namespace tutti::cli
