// SPDX-License-Identifier: Apache-2.0
// What a row of a sweep asks of a simulated fabric, by the axes of the collectives' benches. Values; thread-safe.
#pragma once

#include "base/status.hpp"
#include "bench/results/result.hpp"
#include "on_fabric/call.hpp"

namespace tutti::simulated {

[[nodiscard]] Result<on_fabric::Call> asked_in(const harness::Row& row);

// The row's message and counters, as a peer with processes has them.
void tell_sizes(const on_fabric::Call& asked, harness::Row& row);

}  // namespace tutti::simulated
