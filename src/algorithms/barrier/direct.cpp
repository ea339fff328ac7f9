// SPDX-License-Identifier: Apache-2.0
// Direct barrier: every rank says that it has come, and waits until it sees that all others have.
//
// Meant for ranks that share memory: one latency, one store and N-1 loads per rank. Any number of ranks; no scratch.
#include "algorithms/registry.hpp"

namespace tutti::barrier {

namespace {

Lane steps(Builder& b) {
  co_yield b.signal();
  if (b.num_ranks() > 1) co_yield b.wait_for_all_others(0);
}

Schedule make(const Request& request) { return one_lane(direct, request, steps); }

}  // namespace

const Algorithm direct = {
    .name = "direct",
    .collective = Collective::barrier,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .method = "every rank signals, and waits for the signals of all others",
    .citation =
        "J. Mellor-Crummey, M. Scott, Algorithms for scalable synchronization on shared-memory multiprocessors, "
        "ACM TOCS 9(1), 1991 (the centralized barrier, here with a flag for each rank)",
    .make = make,
};

}  // namespace tutti::barrier
