// A worker that breaks the protocol on purpose.
#pragma once

#include "base/environment.hpp"
#include "peers/null/orders.hpp"

namespace tutti::peers {

// Whether this rank is told to.
[[nodiscard]] bool misbehaves(const NullOrders& orders, int rank);
// Plays the worker until its moment has come, and then waits to be ended; the exit status.
[[nodiscard]] int misbehave(const NullOrders& orders, int rank, int num_ranks, const Environment& environment);

// Comes to the runner as somebody who does not know the token, says so and is gone.
void visit_as_stranger(const Environment& environment);

}  // namespace tutti::peers
