// SPDX-License-Identifier: Apache-2.0
// Direct reduce: every rank exposes its input, and the root folds all of them, in rank order, in one pass.
//
// Meant for few ranks and small messages: one latency and one rounding, and the root reads (N-1)·n bytes. Any number of
// ranks, any root; no scratch.
#include "algorithms/registry.hpp"

namespace tutti::reduce {

namespace {

Lane steps(Builder& b) {
  if (b.rank() == b.root()) {
    co_yield b.pull_reduce_all(0, b.input(), b.output());
  } else {
    co_yield b.expose(b.input());
    co_yield b.close();
  }
}

Schedule make(const Request& request) { return one_lane(direct, request, steps); }

}  // namespace

const Algorithm direct = {
    .name = "direct",
    .collective = Collective::reduce,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .name_safe = true,
    .name_safe_in_place = true,
    .method = "every rank exposes its input, and the root folds all of them",
    .citation =
        "R. L. Graham, G. Shipman, MPI support for multi-core architectures: optimized shared memory collectives, "
        "EuroPVM/MPI 2008 (as a fan-in through shared memory)",
    .make = make,
};

}  // namespace tutti::reduce
