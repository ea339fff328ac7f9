// SPDX-License-Identifier: Apache-2.0
// Linear scan: the fold of ranks 0 to r goes from rank to rank; each folds its own part behind it, keeps the result and
// passes it on in the same pass.
//
// Meant for large buffers, where rounds follow each other along the chain, and for results that are to be the left
// fold. N-1 steps, and one buffer sent by each rank but the last. Any number of ranks; no scratch.
#include "algorithms/registry.hpp"

namespace tutti::scan {

namespace {

Lane steps(Builder& b) {
  const std::uint32_t rank = b.rank();
  if (rank == 0) {
    co_yield b.copy(b.input(), b.output());
  } else {
    co_yield b.recv_reduce(rank - 1, b.input(), b.output());
  }
  if (rank + 1 < b.num_ranks()) co_yield b.send(rank + 1, b.output());
}

Schedule make(const Request& request) { return one_lane(linear, request, steps); }

}  // namespace

const Algorithm linear = {
    .name = "linear",
    .collective = Collective::scan,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .method = "the fold goes from rank to rank and grows",
    .citation =
        "P. Sanders, J. L. Träff, Parallel prefix (scan) algorithms for MPI, EuroPVM/MPI 2006 (as the linear pipeline)",
    .make = make,
};

}  // namespace tutti::scan
