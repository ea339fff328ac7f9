// SPDX-License-Identifier: Apache-2.0
// A simulated fabric as a peer of benchmarks: the collectives of Tutti in virtual time, done in the way that Tutti
// would choose for the call, or is told to by the same variables as the library. Each case is checked by what the
// simulation carries.
//
// One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/variables/environment.hpp"
#include "bench/axes/algorithm_axis.hpp"
#include "bench/measure/reckoner.hpp"
#include "fabric/fabric.hpp"

namespace tutti::simulated {

inline constexpr std::string_view kSimulatedPeer = "simulate";

// The peer "simulate:FABRIC", from what stands behind its colon. The environment is the one that the settings of groups
// change; it must outlive the peer. An error where there is no such fabric.
[[nodiscard]] Result<std::shared_ptr<const harness::Reckoner>> simulated_peer(std::string_view fabric,
                                                                              const Environment& environment);

// Every algorithm of the catalogue for the bench of that name; what a fabric cannot do is found out case by case.
[[nodiscard]] std::vector<harness::ForcedAlgorithm> simulated_algorithms(std::string_view bench);

}  // namespace tutti::simulated
