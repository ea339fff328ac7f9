// SPDX-License-Identifier: Apache-2.0
// Algorithms by what people write: "ring", "knomial(4)", "bucket_2d(4x2)", "hierarchical(2+3, ring)", the form that
// full_name() gives. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace tutti {

struct NamedAlgorithm {
  const Algorithm* algorithm = nullptr;
  Request request = {};
};

// What is not written of the parameters takes its usual value, and a grid that of the machine if one is given
// (cases.hpp). An error where there is no such algorithm, or it takes no such parameter; Code::unsupported where it
// objects to these ranks, or no grid is known.
[[nodiscard]] Result<NamedAlgorithm> find_by_full_name(
    Collective collective, std::string_view text, std::uint32_t num_ranks,
    const std::optional<std::vector<std::uint32_t>>& machine_grid = {});

}  // namespace tutti
