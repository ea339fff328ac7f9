// SPDX-License-Identifier: Apache-2.0
// Ring reduce-scatter: the partial sum of every block starts at the rank to the right of the block's own, travels
// around the ring and ends at its own rank; each rank on its way folds its own part behind it.
//
// Meant for large blocks: N-1 steps, one message each, and N-1 blocks sent per rank, which is the least there can be.
// Any number of ranks; no scratch, because a partial sum goes from message to message and is stored only at the end.
// Blocks may differ in size.
#include <array>

#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::reduce_scatter {

namespace {

Lane steps(Builder& b) {
  const std::uint32_t n = b.num_ranks();
  const std::uint32_t right = b.neighbour(1);
  const std::uint32_t left = b.neighbour(-1);
  if (n == 1) {
    b.completing();
    co_yield b.copy(b.input_block(0), b.output());
    co_return;
  }
  co_yield b.send(right, b.input_block(left));
  for (std::uint32_t step = 2; step < n; ++step) {
    const Slice part = b.input_block(b.neighbour(-static_cast<std::int64_t>(step)));
    co_yield b.combine(std::array{message_end(left, part), local_end(part)}, std::array{message_end(right, part)});
  }
  b.completing();
  co_yield b.recv_reduce(left, b.input_block(b.rank()), b.output());
}

Schedule make(const Request& request) { return one_lane(ring, request, steps); }

}  // namespace

constexpr Algorithm ring = {
    .name = "ring",
    .collective = Collective::reduce_scatter,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "every block travels once around the ring being reduced, and ends at its rank",
    .citation =
        "P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "JPDC 69(2), 2009 (its first half)",
    .make = make,
};

}  // namespace tutti::reduce_scatter

namespace tutti::reduce_scatter_v {

constinit const Algorithm ring = varying(reduce_scatter::ring, Collective::reduce_scatter_v);

}  // namespace tutti::reduce_scatter_v
