// SPDX-License-Identifier: Apache-2.0
// Dissemination barrier with any radix k: in each phase a rank tells k-1 others, w, 2w, ..., (k-1)w to the right, that
// it and the w-1 ranks to its left have come, and hears the same from as many on its left; then w is k times as large.
//
// ceil(log_k N) phases and at most k-1 empty messages each; any number of ranks. One block of scratch, which takes the
// empty messages.
#include <algorithm>

#include "algorithms/registry.hpp"

namespace tutti::barrier {

namespace {

Lane steps(Builder& b, std::uint32_t radix) {
  const std::uint64_t n = b.num_ranks();
  for (std::uint64_t heard = 1; heard < n; heard *= radix) {
    const std::uint64_t end = std::min(n, heard * radix);
    for (std::uint64_t shift = heard; shift < end; shift += heard)
      co_yield b.send(b.neighbour(static_cast<std::int64_t>(shift)), b.input());
    for (std::uint64_t shift = heard; shift < end; shift += heard)
      co_yield b.recv(b.neighbour(-static_cast<std::int64_t>(shift)), b.scratch(0));
  }
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(dissemination, request, 1, 1, 1);
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t) { return steps(b, radix); };
  return schedule;
}

}  // namespace

const Algorithm dissemination = {
    .name = "dissemination",
    .collective = Collective::barrier,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "in each phase a rank hears of k times as many ranks as it has heard of",
    .citation =
        "D. Hensgen, R. Finkel, U. Manber, Two algorithms for barrier synchronization, IJPP 17(1), 1988 (radix 2); "
        "T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, Fast barrier synchronization for InfiniBand, IPDPS 2006 (any "
        "radix)",
    .make = make,
};

}  // namespace tutti::barrier
