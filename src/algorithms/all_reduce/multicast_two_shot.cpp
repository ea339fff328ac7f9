// SPDX-License-Identifier: Apache-2.0
// Multicast two-shot all-reduce: rank r reads the switch's fold of piece r of all inputs and multicasts it into piece r
// of all outputs.
//
// Meant for large messages in symmetric memory where a switch folds and copies: each rank reads and writes n/N bytes.
// Any number of ranks; no scratch. Each piece is folded once, for one rank, so that all ranks get the same bits. In
// place it is right by name, because piece r of every buffer is touched by rank r alone.
#include <array>

#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

constexpr std::uint32_t kExposed = 0;
constexpr std::uint32_t kOpened = 1;
constexpr std::uint32_t kDone = 2;

Lane steps(Builder& b) {
  const std::uint32_t all = b.num_ranks();
  const std::uint32_t own = b.rank();
  co_yield b.expose(b.input(0, all));
  co_yield b.open(b.output(0, all));
  // One step, since the switch writes this rank's own output as well.
  const std::array<Endpoint, 1> from = {{{Place::multicast, 0, kExposed, b.input(own)}}};
  const std::array<Endpoint, 1> into = {{{Place::multicast, 0, kOpened, b.output(own)}}};
  b.completing();
  co_yield b.combine(from, into);
  co_yield b.signal();
  if (all > 1) co_yield b.wait_for_all_others(kDone);
}

Schedule make(const Request& request) { return one_lane(multicast_two_shot, request, steps, request.num_ranks); }

}  // namespace

const Algorithm multicast_two_shot = {
    .name = "multicast_two_shot",
    .collective = Collective::all_reduce,
    .channel = Channel::multicast,
    .order = OrderClass::uniform,
    .method = "rank r reads the switch's fold of piece r and multicasts it into every rank's output",
    .citation =
        "B. Klenk, N. Jiang, G. Thorson, L. Dennison, An in-network architecture for accelerating shared-memory "
        "multiprocessor collectives, ISCA 2020 (NVLink SHARP, as NCCL and MSCCL++ use it)",
    .make = make,
};

}  // namespace tutti::all_reduce
