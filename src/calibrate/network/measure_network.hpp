// SPDX-License-Identifier: Apache-2.0
// Measures the network between the hosts of a communicator, by a program's own sends and receives. Every time is taken
// by one rank's clock. All ranks call it at once; one thread each.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "calibrate/network/network.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti::calibrate {

struct NetworkEffort {
  double seconds = 0.15;                               // for each number, about; more where a round trip is long
  std::uint64_t most_bytes = std::uint64_t{32} << 20;  // that are sent in one go
};

// A pair of hosts that did not reach each other; of ranks, by number.
struct BrokenPair {
  int here = -1;
  int there = -1;
};

// Returns the same on all ranks. The first rank of each host measures the network; a second one, if there is one,
// serves to measure messages between ranks of the host. On an error, `broken` has the pair that was being measured, if
// any.
[[nodiscard]] Result<NetworkMeasurements> measure_network(Communicator& communicator, const NetworkEffort& effort,
                                                          BrokenPair& broken);

}  // namespace tutti::calibrate
