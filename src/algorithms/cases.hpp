// The requests that an algorithm is to be proven for: every root, radix, grid and corner, and some groupings, unless
// one is asked for. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace tutti {

// What is asked for; nothing stands for all that there are.
struct CaseFilter {
  std::optional<std::uint32_t> root;
  std::optional<std::uint32_t> radix;  // else 2 to 8
  std::optional<Grid> grid;
  std::optional<std::vector<std::uint32_t>> groups;  // else one group, groups of one, and groups drawn from the seed
  std::optional<std::string> inner;
  std::optional<std::uint32_t> corner;
  std::uint64_t seed = 0;
};

// In a fixed order, without those that the algorithm objects to. The first has the usual parameters.
[[nodiscard]] std::vector<Request> cases_of(const Algorithm& algorithm, std::uint32_t num_ranks,
                                            const CaseFilter& filter = {});

}  // namespace tutti
