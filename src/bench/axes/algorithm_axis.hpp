// SPDX-License-Identifier: Apache-2.0
// The axis `algorithm`: what a peer calls its algorithms, and the variables that force it to each. Its values start
// groups of their own, as those of variables do. Values and pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "bench/axes/environment_axis.hpp"

namespace tutti::harness {

inline constexpr std::string_view kAlgorithmAxis = "algorithm";

// How many ranks something works with.
enum class RanksAllowed : std::uint8_t { any, two, even, power_of_two };
[[nodiscard]] bool allows(RanksAllowed allowed, int num_ranks);
// "any", "2", "even", "power of 2".
[[nodiscard]] std::string_view name_of(RanksAllowed allowed);

struct ForcedAlgorithm {
  std::string name;
  std::vector<Setting> settings;
  RanksAllowed ranks = RanksAllowed::any;

  friend bool operator==(const ForcedAlgorithm&, const ForcedAlgorithm&) = default;
};

// What words mean among the algorithms that a peer has: names, `all` of them, or `default`, with which nothing is
// forced and which is also what `all` is where there are none. Words that this peer has no algorithm for are left out.
// In the order of the words, none twice.
[[nodiscard]] std::vector<ForcedAlgorithm> chosen(std::span<const std::string> words,
                                                  std::span<const ForcedAlgorithm> known);

}  // namespace tutti::harness
