// Every algorithm, as rows of one table. Immutable; thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "algorithms/algorithm.hpp"

namespace tutti {

[[nodiscard]] std::span<const Algorithm> all_algorithms();

// Null where there is none of that name for the collective. Hyphens and underscores are alike.
[[nodiscard]] const Algorithm* find_algorithm(Collective collective, std::string_view name);

}  // namespace tutti
