// SPDX-License-Identifier: Apache-2.0
// Linear exclusive scan: the fold of ranks 0 to r-1 comes from rank r-1; rank r keeps it, and sends it on with its own
// part folded behind it.
//
// Meant for large buffers, where rounds follow each other along the chain, and for results that are to be the left
// fold. N-1 steps, and one buffer sent by each rank but the last. Any number of ranks. One block of scratch: in place,
// the result would overwrite the part that is still to be folded into what is sent on.
#include <array>

#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::exclusive_scan {

namespace {

Lane steps(Builder& b) {
  const std::uint32_t rank = b.rank();
  const bool is_last = rank + 1 == b.num_ranks();
  if (rank == 0) {
    if (!is_last) co_yield b.send(1, b.input());
    co_return;
  }
  if (is_last) {
    co_yield b.recv(rank - 1, b.output());
    co_return;
  }
  co_yield b.recv(rank - 1, b.scratch(0));
  co_yield b.combine(std::array{local_end(b.scratch(0)), local_end(b.input())},
                     std::array{message_end(rank + 1, b.output())});
  co_yield b.copy(b.scratch(0), b.output());
}

Schedule make(const Request& request) { return one_lane(linear, request, steps, 1, 1); }

}  // namespace

const Algorithm linear = {
    .name = "linear",
    .collective = Collective::exclusive_scan,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .method = "the fold goes from rank to rank and grows",
    .citation =
        "P. Sanders, J. L. Träff, Parallel prefix (scan) algorithms for MPI, EuroPVM/MPI 2006 (as the linear pipeline)",
    .make = make,
};

}  // namespace tutti::exclusive_scan
