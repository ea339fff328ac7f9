// SPDX-License-Identifier: Apache-2.0
// Direct broadcast: the root exposes its block, and every other rank reads it from there.
//
// Meant for few ranks and small messages: one latency, N-1 reads of the same memory, side by side. Any number of ranks,
// any root; no scratch. The root copies to its own output last: in place that would scale what the others still read,
// so by name it waits for them, and where the block is staged it waits for nobody.
#include "algorithms/registry.hpp"

namespace tutti::broadcast {

namespace {

Lane steps(Builder& b) {
  if (b.rank() != b.root()) {
    co_yield b.pull(b.root(), 0, b.input(), b.output());
    co_return;
  }
  if (b.num_ranks() > 1) {
    co_yield b.expose(b.input());
    co_yield b.close();
  }
  co_yield b.copy(b.input(), b.output());
}

Schedule make(const Request& request) { return one_lane(direct, request, steps); }

}  // namespace

const Algorithm direct = {
    .name = "direct",
    .collective = Collective::broadcast,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .name_safe = true,
    .name_safe_in_place = true,
    .method = "the root exposes the block, and every other rank reads it",
    .citation =
        "R. L. Graham, G. Shipman, MPI support for multi-core architectures: optimized shared memory collectives, "
        "EuroPVM/MPI 2008 (as a fan-out through shared memory)",
    .make = make,
};

}  // namespace tutti::broadcast
