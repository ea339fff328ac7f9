// SPDX-License-Identifier: Apache-2.0
// Measures what hosts send while their ranks use several interfaces at once. Every time is taken by one rank's clock.
// All ranks call it at once; one thread each.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "calibrate/network/measure_network.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti::calibrate {

// All ranks send at once, each to the rank with its place on the next host, and all places for about the same time.
// Returns, the same on all ranks, the rate of a rank at each place; 0 where only one host has a rank there.
[[nodiscard]] Result<std::vector<double>> measure_together(Communicator& communicator, const NetworkEffort& effort);

}  // namespace tutti::calibrate
