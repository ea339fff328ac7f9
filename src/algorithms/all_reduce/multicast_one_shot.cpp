// SPDX-License-Identifier: Apache-2.0
// Multicast one-shot all-reduce: every rank exposes its input, and reads the switch's fold of all of them.
//
// Meant for small messages where a switch folds: one latency, and n bytes read per rank however many ranks there are.
// Any number of ranks; no scratch. The switch folds in an order of its own for each asking rank, so results may differ
// in their last bits between ranks. Two lanes, as in one_shot: exposing runs ahead of folding.
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

Lane exposing(Builder& b) { co_yield b.expose(b.input()); }

Lane folding(Builder& b) {
  // In place the fold overwrites the input, so this rank's own copy must have been taken.
  b.after(0, 0);
  co_yield b.multicast_reduce(0, b.input(), b.output());
  co_yield b.close();
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(multicast_one_shot, request, 1, 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? exposing(b) : folding(b); };
  return schedule;
}

}  // namespace

const Algorithm multicast_one_shot = {
    .name = "multicast_one_shot",
    .collective = Collective::all_reduce,
    .channel = Channel::multicast,
    .order = OrderClass::free,
    .method = "every rank exposes its whole input and reads the fold that the switch makes of all of them",
    .citation =
        "B. Klenk, N. Jiang, G. Thorson, L. Dennison, An in-network architecture for accelerating shared-memory "
        "multiprocessor collectives, ISCA 2020 (NVLink SHARP, as NCCL and MSCCL++ use it)",
    .make = make,
};

}  // namespace tutti::all_reduce
