// SPDX-License-Identifier: Apache-2.0
// The requests that an algorithm is to be proven for: every root, radix, grid and corner, and some groupings with every
// algorithm between the groups, unless one is asked for. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace tutti {

// The largest radix that every algorithm with one is proven for.
inline constexpr std::uint32_t kMostRadix = 8;

// What is asked for; nothing stands for all that there are. Radix, grid and corner are those of the algorithm between
// groups as well, which is then one that takes them.
struct CaseFilter {
  std::optional<std::uint32_t> root = {};
  std::optional<std::uint32_t> radix = {};  // else 2 to 8
  std::optional<Grid> grid = {};
  // Else as many as they have ranks, one, groups of one, and some drawn.
  std::optional<std::vector<std::uint32_t>> groups = {};
  std::optional<std::string> inner = {};  // else each that may be
  std::optional<std::uint32_t> corner = {};
  std::uint64_t seed = 1;  // of what is drawn
  // Of ranks on a machine, the sides of the grid that they are on, none where they are on none. An algorithm whose grid
  // is not asked for then has this one, else the square or cube of its ranks; else there is no case.
  std::optional<std::vector<std::uint32_t>> machine_grid = {};
};

struct Cases {
  std::vector<Request> requests;
  std::string objection;    // to the first that was left out; empty where none was
  bool lacks_grid = false;  // that is the objection: neither the filter nor the machine nor a square says which
};

// In a fixed order, without those that the algorithm objects to. The first has the usual parameters, and is no special
// case where there is another: several groups of several ranks, several packages of several ranks. What is proven of
// the algorithm between groups is all its cases where groups are the usual or those asked for, and one of its cases,
// drawn, between other groups.
[[nodiscard]] Cases find_cases(const Algorithm& algorithm, std::uint32_t num_ranks, const CaseFilter& filter = {});
[[nodiscard]] std::vector<Request> cases_of(const Algorithm& algorithm, std::uint32_t num_ranks,
                                            const CaseFilter& filter = {});

// The first parameter that is asked for and that the algorithm does not take: "radix". Empty where it takes them all.
[[nodiscard]] std::string_view parameter_not_taken(const Algorithm& algorithm, const CaseFilter& filter);

}  // namespace tutti
