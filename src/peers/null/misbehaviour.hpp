// SPDX-License-Identifier: Apache-2.0
// A worker that breaks the protocol on purpose.
#pragma once

#include <vector>

#include "base/variables/environment.hpp"
#include "bench/process/connection.hpp"
#include "peers/null/orders.hpp"

namespace tutti::peers {

// Whether this rank is told to.
[[nodiscard]] bool misbehaves(const NullOrders& orders, int rank);
// Plays the worker until its moment has come, and then waits to be ended; the exit status.
[[nodiscard]] int misbehave(const NullOrders& orders, int rank, int num_ranks, const Environment& environment);

// Comes to the runner as somebody who does not know the token, says so and is gone.
void visit_as_stranger(const Environment& environment);
// Comes so many times and says nothing, for as long as what it gives back lives.
[[nodiscard]] std::vector<harness::Connection> crowd(const Environment& environment, int count);

}  // namespace tutti::peers
