// SPDX-License-Identifier: Apache-2.0
// Direct reduce-scatter: every rank exposes its parts of all blocks but its own, and folds its own block of all inputs,
// in rank order, into its output.
//
// Meant for ranks that share memory: one latency, N-1 blocks read per rank, one rounding. Any number of ranks; no
// scratch. Right by name in place as well, because a rank's own block of its input is read by itself alone. Two lanes:
// exposing runs ahead of folding. Blocks may differ in size.
#include <array>
#include <vector>

#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::reduce_scatter {

namespace {

// The post with which `rank` exposes its part of another's block.
std::uint32_t post_of(std::uint32_t block, std::uint32_t rank) { return block < rank ? block : block - 1; }

Lane exposing(Builder& b) {
  for (std::uint32_t block = 0; block < b.num_ranks(); ++block)
    if (block != b.rank()) co_yield b.expose(b.input_block(block));
}

Lane folding(Builder& b) {
  const std::uint32_t own = b.rank();
  const Slice part = b.input_block(own);
  std::vector<Endpoint> parts;
  for (std::uint32_t rank = 0; rank < b.num_ranks(); ++rank)
    parts.push_back(rank == own ? local_end(part) : remote_end(rank, post_of(own, rank), part));
  b.completing();
  co_yield b.combine(parts, std::array{local_end(b.output())});
  co_yield b.close();
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(direct, request, 1, 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? exposing(b) : folding(b); };
  return schedule;
}

}  // namespace

constexpr Algorithm direct = {
    .name = "direct",
    .collective = Collective::reduce_scatter,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .name_safe = true,
    .name_safe_in_place = true,
    .method = "every rank exposes its parts of all other blocks, and every rank folds its own block of all of them",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, "
        "IJHPCA 19(1), 2005 (pairwise exchange, here with all at once and by load)",
    .make = make,
};

}  // namespace tutti::reduce_scatter

namespace tutti::reduce_scatter_v {

constinit const Algorithm direct = varying(reduce_scatter::direct, Collective::reduce_scatter_v);

}  // namespace tutti::reduce_scatter_v
