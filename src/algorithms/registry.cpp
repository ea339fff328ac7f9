// SPDX-License-Identifier: Apache-2.0
#include "algorithms/registry.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace tutti {

namespace {

#define TUTTI_ALGORITHM(collective, name) &collective::name,
constexpr std::array kAlgorithms = {
#include "algorithms/registry_rows.inc"
};
#undef TUTTI_ALGORITHM

}  // namespace

std::span<const Algorithm* const> all_algorithms() { return kAlgorithms; }

std::span<const Algorithm* const> algorithms_of(Collective collective) {
  const auto is_of = [&](const Algorithm* algorithm) { return algorithm->collective == collective; };
  const auto first = std::find_if(kAlgorithms.begin(), kAlgorithms.end(), is_of);
  return {first, std::find_if_not(first, kAlgorithms.end(), is_of)};
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm* algorithm : algorithms_of(collective))
    if (same_name(algorithm->name, name)) return algorithm;
  return nullptr;
}

std::uint32_t number_of(const Algorithm& algorithm) {
  const auto rows = algorithms_of(algorithm.collective);
  return static_cast<std::uint32_t>(std::find(rows.begin(), rows.end(), &algorithm) - rows.begin());
}

}  // namespace tutti
