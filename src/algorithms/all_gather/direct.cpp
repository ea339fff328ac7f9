// SPDX-License-Identifier: Apache-2.0
// Direct all-gather: every rank exposes its block, and every rank reads the blocks of all others.
//
// Meant for ranks that share memory: one latency, N-1 blocks read per rank, nothing forwarded. Any number of ranks; no
// scratch. Reading starts with the neighbour to the right, so that not all read from one rank at a time. Two lanes:
// exposing runs rounds ahead of reading. Blocks may differ in size.
#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

Lane exposing(Builder& b) { co_yield b.expose(b.input()); }

Lane reading(Builder& b) {
  for (std::uint32_t distance = 1; distance < b.num_ranks(); ++distance) {
    const std::uint32_t from = b.neighbour(distance);
    co_yield b.pull(from, 0, b.input(), b.output_block(from));
  }
  co_yield b.close();
  // Behind the close, since in place and by name this writes what the others read.
  b.after(0, 0);
  co_yield b.copy(b.input(), b.output_block(b.rank()));
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(direct, request, 1, 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? exposing(b) : reading(b); };
  return schedule;
}

}  // namespace

constexpr Algorithm direct = {
    .name = "direct",
    .collective = Collective::all_gather,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .name_safe = true,
    .name_safe_in_place = true,
    .method = "every rank exposes its block, and every rank reads all of them",
    .citation =
        "R. L. Graham, G. Shipman, MPI support for multi-core architectures: optimized shared memory collectives, "
        "EuroPVM/MPI 2008 (its fan-out through shared memory, here from every rank)",
    .make = make,
};

}  // namespace tutti::all_gather

namespace tutti::all_gather_v {

constinit const Algorithm direct = varying(all_gather::direct, Collective::all_gather_v);

}  // namespace tutti::all_gather_v
