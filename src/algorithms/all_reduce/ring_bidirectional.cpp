// SPDX-License-Identifier: Apache-2.0
// Bidirectional ring all-reduce: two rings in opposite directions, each for half of the buffer, all the way.
//
// Meant for large messages where links carry as much in each direction at the same time: 2(N-1) steps as in the ring,
// each with half as much, and each direction of a link carries n·(N-1)/N. Any number of ranks, and any count; no
// scratch. 2N pieces; one lane a direction. Two ranks are each other's neighbours on both sides, so they have one lane,
// in which both halves travel together: the plain ring.
#include "algorithms/parts/ring.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

using parts::fold_and_hand_around;
using parts::ring_of_all;

constexpr std::uint32_t kHalves = 2;
constexpr std::uint32_t kLeft = 1;  // the lane of that direction

Schedule make(const Request& request) {
  const std::uint32_t n = request.num_ranks;
  const bool one_lane = n <= 2;
  Schedule schedule = header_of(ring_bidirectional, request, kHalves * n, one_lane ? 1 : 2);
  schedule.lane = [one_lane, n](Builder& b, std::uint32_t lane) {
    if (one_lane) return fold_and_hand_around(b, ring_of_all(b), {.size = kHalves});
    return fold_and_hand_around(b, ring_of_all(b, lane == kLeft), {.first = lane * n});
  };
  return schedule;
}

}  // namespace

const Algorithm ring_bidirectional = {
    .name = "ring_bidirectional",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "half of the buffer travels around the ring to the right, the other half to the left",
    .citation =
        "E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, Collective communication: theory, practice, and "
        "experience, Concurrency and Computation 19(13), 2007 (the bucket algorithm, here one each way on half of "
        "the buffer)",
    .make = make,
};

}  // namespace tutti::all_reduce
