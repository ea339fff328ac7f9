// SPDX-License-Identifier: Apache-2.0
// Measures what hosts send while their ranks use several interfaces at once. Every time is taken by one rank's clock.
// All ranks call it at once; one thread each.
#pragma once

#include "base/status.hpp"
#include "calibrate/network/measure_network.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti::calibrate {

// All ranks with the same place on their hosts send at once, each to that of the next host, as long as all others do.
// Returns a rate, the same on all ranks: what a host sends at all places together.
[[nodiscard]] Result<double> measure_together(Communicator& communicator, const NetworkEffort& effort);

}  // namespace tutti::calibrate
