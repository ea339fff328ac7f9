// SPDX-License-Identifier: Apache-2.0
// Broadcast from both ends: the root stores the last of N pieces into every other rank's output, while each of those
// reads all pieces before it from the root.
//
// Meant for large blocks and few ranks, where who copies is what a broadcast waits for: the root, which has nothing to
// do in a direct broadcast, copies as much as each of the others. Of two ranks each moves one half. Any number of
// ranks, any root; no scratch. The root copies to its own output last, as in a direct broadcast.
#include "algorithms/registry.hpp"

namespace tutti::broadcast {

namespace {

Lane steps(Builder& b) {
  const std::uint32_t all = b.num_ranks();
  const std::uint32_t last = all - 1;
  if (b.rank() != b.root()) {
    co_yield b.open(b.output(0, all));
    co_yield b.pull(b.root(), 0, b.input(0, last), b.output(0, last));
    co_yield b.close();
    co_return;
  }
  if (all > 1) {
    co_yield b.expose(b.input(0, all));
    co_yield b.push_to_all_others(0, b.input(last), b.output(last));
    co_yield b.close();
  }
  co_yield b.copy(b.input(0, all), b.output(0, all));
}

Schedule make(const Request& request) { return one_lane(push_pull, request, steps, request.num_ranks); }

}  // namespace

const Algorithm push_pull = {
    .name = "push_pull",
    .collective = Collective::broadcast,
    .channel = Channel::symmetric,
    .order = OrderClass::ordered,
    .name_safe = true,
    .name_safe_in_place = true,
    .method = "the root stores the last of N pieces into every output, while each rank reads the others from the root",
    .citation =
        "T. Ma, G. Bosilca, A. Bouteiller, J. Dongarra, Kernel-assisted and topology-aware MPI collective "
        "communications on multicore/many-core platforms, JPDC 73, 2013 (one copy by the kernel; here by both ends at "
        "once)",
    .make = make,
};

}  // namespace tutti::broadcast
