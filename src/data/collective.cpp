// SPDX-License-Identifier: Apache-2.0
#include "data/collective.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace tutti {

namespace {

// In the order of Collective.
constexpr std::array<CollectiveFacts, kNumCollectives> kFacts = {{
    {.name = "all_reduce", .folds = true},
    {.name = "all_gather", .many_outputs = true},
    {.name = "reduce_scatter", .folds = true, .many_inputs = true},
    {.name = "broadcast", .has_root = true},
    {.name = "reduce", .has_root = true, .folds = true},
    {.name = "all_to_all", .many_inputs = true, .many_outputs = true},
    {.name = "gather", .has_root = true, .many_outputs = true},
    {.name = "scatter", .has_root = true, .many_inputs = true},
    {.name = "scan", .folds = true},
    {.name = "exclusive_scan", .folds = true},
    {.name = "barrier"},
    {.name = "all_gather_v", .many_outputs = true, .varies = true},
    {.name = "reduce_scatter_v", .folds = true, .many_inputs = true, .varies = true},
    {.name = "all_to_all_v", .many_inputs = true, .many_outputs = true, .varies = true},
    {.name = "gather_v", .has_root = true, .many_outputs = true, .varies = true},
    {.name = "scatter_v", .has_root = true, .many_inputs = true, .varies = true},
}};

}  // namespace

const CollectiveFacts& facts_of(Collective collective) { return kFacts[static_cast<std::size_t>(collective)]; }

std::optional<Collective> find_collective(std::string_view name) {
  const auto found = std::find_if(kFacts.begin(), kFacts.end(),
                                  [&](const CollectiveFacts& facts) { return same_name(facts.name, name); });
  if (found == kFacts.end()) return std::nullopt;
  return static_cast<Collective>(found - kFacts.begin());
}

}  // namespace tutti
