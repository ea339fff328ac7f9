// SPDX-License-Identifier: Apache-2.0
// What launchers say of ranks in variables of the environment. An error names the variable, its value and what would be
// right. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "base/variables/environment.hpp"

namespace tutti::start {

// More than any machine has: beyond it a number is a mistake.
inline constexpr std::int64_t kMostRanks = 1 << 24;

struct Limits {
  std::int64_t low = 0;
  std::int64_t high = 0;  // included
};
// Nothing where the variable is not set.
[[nodiscard]] Result<std::optional<std::int64_t>> number_in(const Environment& environment, std::string_view name,
                                                            Limits limits);

// The names of variables for a rank, for the number of all ranks, and, which may be unset or without a name, for how
// many of them are on this host.
struct RankVariables {
  std::string_view rank;
  std::string_view num_ranks;
  std::string_view num_here{};
};

struct Ranks {
  int rank = 0;
  int num_ranks = 1;
  bool span_hosts = false;
};
// Both must be set, and the rank be one of the ranks.
[[nodiscard]] Result<Ranks> ranks_in(const Environment& environment, const RankVariables& names);

// Code::unsupported where there are more ranks than can be.
[[nodiscard]] Status check_number(std::int64_t num_ranks, bool span_hosts);

}  // namespace tutti::start
