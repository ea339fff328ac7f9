// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/algorithm_axis.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

constexpr std::array<std::string_view, 4> kRanksAllowed = {"any", "2", "even", "power of 2"};
constexpr std::string_view kAll = "all";
constexpr std::string_view kDefault = "default";

}  // namespace

bool allows(RanksAllowed allowed, int num_ranks) {
  switch (allowed) {
    case RanksAllowed::any: return true;
    case RanksAllowed::two: return num_ranks == 2;
    case RanksAllowed::even: return num_ranks % 2 == 0;
    case RanksAllowed::power_of_two: return std::has_single_bit(static_cast<unsigned>(num_ranks));
  }
  return false;
}

std::string_view name_of(RanksAllowed allowed) { return kRanksAllowed[static_cast<std::size_t>(allowed)]; }

std::vector<ForcedAlgorithm> chosen(std::span<const std::string> words, std::span<const ForcedAlgorithm> known) {
  std::vector<ForcedAlgorithm> algorithms;
  const auto add = [&](const ForcedAlgorithm& algorithm) {
    if (std::find(algorithms.begin(), algorithms.end(), algorithm) == algorithms.end()) algorithms.push_back(algorithm);
  };
  const ForcedAlgorithm unforced{.name = std::string(kDefault), .settings = {}};
  for (const std::string& word : words) {
    const bool all = same_name(word, kAll);
    if (same_name(word, kDefault) || (all && known.empty())) add(unforced);
    for (const ForcedAlgorithm& each : known)
      if (all || same_name(word, each.name)) add(each);
  }
  return algorithms;
}

}  // namespace tutti::harness
