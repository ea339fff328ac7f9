// SPDX-License-Identifier: Apache-2.0
// The knobs of other libraries that are worth a try, as data: a row each. Pure; thread-safe.
#pragma once

#include <string_view>
#include <vector>

#include "data/collective.hpp"
#include "tune/candidates.hpp"

namespace tutti::tune {

// Those of the peer for the collective; none where it has none.
[[nodiscard]] std::vector<Knob> knobs_of(std::string_view peer, Collective collective);

}  // namespace tutti::tune
