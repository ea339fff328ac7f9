// SPDX-License-Identifier: Apache-2.0
// Bruck's all-gather with any radix k: a rank that has the w blocks from its own on, counted to the right, gets those
// of the ranks w, 2w, ..., (k-1)w to the right and has k·w.
//
// Meant for small blocks: ceil(log_k N) phases for any number of ranks, in each up to k-1 messages that do not wait for
// each other; N-1 blocks sent and received per rank. Blocks are received at their final places, around the end of the
// buffer where they have to: there is no rotation at the end, and no scratch. Blocks may differ in size.
#include <algorithm>

#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

Lane steps(Builder& b, std::uint32_t radix) {
  const std::uint64_t n = b.num_ranks();
  const auto run = [&](std::uint64_t distance, std::uint64_t count) {
    return b.blocks(Space::output, b.neighbour(static_cast<std::int64_t>(distance)), static_cast<std::uint32_t>(count));
  };
  co_yield b.copy(b.input(), b.output_block(b.rank()));
  for (std::uint64_t known = 1; known < n; known *= radix) {
    const std::uint64_t end = std::min(n, known * radix);
    for (std::uint64_t shift = known; shift < end; shift += known)
      co_yield b.send(b.neighbour(-static_cast<std::int64_t>(shift)), run(0, std::min(known, n - shift)));
    for (std::uint64_t shift = known; shift < end; shift += known)
      co_yield b.recv(b.neighbour(static_cast<std::int64_t>(shift)), run(shift, std::min(known, n - shift)));
  }
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(bruck, request, 1);
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t) { return steps(b, radix); };
  return schedule;
}

}  // namespace

constexpr Algorithm bruck = {
    .name = "bruck",
    .collective = Collective::all_gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "in each phase a rank gets k-1 times as many blocks as it has, from ranks at growing distances",
    .citation =
        "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient algorithms for all-to-all communications in "
        "multiport message-passing systems, IEEE TPDS 8(11), 1997",
    .make = make,
};

}  // namespace tutti::all_gather

namespace tutti::all_gather_v {

constinit const Algorithm bruck = varying(all_gather::bruck, Collective::all_gather_v);

}  // namespace tutti::all_gather_v
