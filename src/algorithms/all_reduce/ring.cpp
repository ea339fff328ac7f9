// SPDX-License-Identifier: Apache-2.0
// Ring all-reduce: N pieces; each travels N-1 places to the right while every rank on its way adds its own part, and
// then N-1 places further, being handed out.
//
// Meant for large messages: 2(N-1) steps, and 2·n·(N-1)/N bytes sent per rank, which is the least there can be. Any
// number of ranks, and any count (pieces may be empty); no scratch. Rank r begins with its
// piece r, and after the first half holds piece r+1 whole.
#include "algorithms/parts/ring.hpp"

#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

using parts::fold_and_hand_around;
using parts::ring_of_all;

Schedule make(const Request& request) {
  Schedule schedule = header_of(ring, request, request.num_ranks);
  schedule.lane = [](Builder& b, std::uint32_t) { return fold_and_hand_around(b, ring_of_all(b, false, 1), {}); };
  return schedule;
}

}  // namespace

const Algorithm ring = {
    .name = "ring",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "pieces travel once around the ring being reduced, and once more being handed out",
    .citation =
        "P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "JPDC 69(2), 2009",
    .make = make,
};

}  // namespace tutti::all_reduce
