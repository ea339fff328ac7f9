// SPDX-License-Identifier: Apache-2.0
// What tests of costs share: the cost of an algorithm by name, and the figures of k-nomial trees and digits, counted
// from the numbers' digits and not from any tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "algorithms/registry.hpp"
#include "schedule/cost.hpp"

namespace tutti::closed_forms {

struct Asked {
  std::uint32_t ranks = 1;
  std::uint32_t root = 0;
  std::uint32_t radix = 2;
};

inline Schedule schedule_of(Collective collective, std::string_view name, const Asked& asked) {
  Request request = {.collective = collective, .num_ranks = asked.ranks, .root = asked.root};
  request.parameters.radix = asked.radix;
  return find_algorithm(collective, name)->make(request);
}

inline Cost cost(Collective collective, std::string_view name, const Asked& asked) {
  return cost_of(schedule_of(collective, name, asked));
}

// Every number of ranks to 17 with the first, the last and a middle one as root, and each of some radices.
template <typename Check>
void for_each_asked(std::initializer_list<std::uint32_t> radices, const Check& check) {
  for (std::uint32_t ranks = 1; ranks <= 17; ++ranks)
    for (const std::uint32_t root : {0U, ranks / 3, ranks - 1})
      for (const std::uint32_t radix : radices) check(Asked{ranks, root, radix});
}

// Digits that are not 0: how deep a rank that is so far from the root lies in a k-nomial tree.
inline std::uint32_t num_digits_set(std::uint32_t number, std::uint32_t radix) {
  std::uint32_t count = 0;
  for (; number != 0; number /= radix) count += number % radix != 0 ? 1 : 0;
  return count;
}

// The depths of all ranks added up, and the greatest of them.
inline std::uint32_t sum_of_depths(std::uint32_t ranks, std::uint32_t radix) {
  std::uint32_t sum = 0;
  for (std::uint32_t place = 0; place < ranks; ++place) sum += num_digits_set(place, radix);
  return sum;
}

inline std::uint32_t greatest_depth(std::uint32_t ranks, std::uint32_t radix) {
  std::uint32_t most = 0;
  for (std::uint32_t place = 0; place < ranks; ++place) most = std::max(most, num_digits_set(place, radix));
  return most;
}

// ceil(log_k N).
inline std::uint32_t num_levels(std::uint32_t ranks, std::uint32_t radix) {
  std::uint32_t levels = 0;
  for (std::uint32_t reach = 1; reach < ranks; reach *= radix) ++levels;
  return levels;
}

// The children of the root: at most k-1 on each level.
inline std::uint32_t num_partners_of_root(std::uint32_t ranks, std::uint32_t radix) {
  std::uint32_t count = 0;
  for (std::uint32_t value = 1; value < ranks; value *= radix) count += std::min(radix - 1, (ranks - 1) / value);
  return count;
}

}  // namespace tutti::closed_forms
