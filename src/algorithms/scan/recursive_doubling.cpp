// SPDX-License-Identifier: Apache-2.0
// Scan by recursive doubling: before step k a rank has the fold of the 2^k ranks that end with it; it sends that 2^k
// ranks up, and folds what comes from 2^k ranks below in front of it.
//
// Meant for small buffers: ceil(log2 N) steps, in each of which the whole buffer is sent by all ranks that have another
// so far above. Any number of ranks; no scratch. A rank whose fold begins with rank 0 has its result, and sends it to
// all that still want it at once.
#include "algorithms/registry.hpp"

namespace tutti::scan {

namespace {

Lane steps(Builder& b) {
  const std::uint32_t rank = b.rank();
  const std::uint32_t n = b.num_ranks();
  if (rank == 0) co_yield b.copy(b.input(), b.output());
  Slice folded = rank == 0 ? b.output() : b.input();
  for (std::uint64_t distance = 1; distance < n; distance *= 2) {
    if (rank + distance < n) co_yield b.send(static_cast<std::uint32_t>(rank + distance), folded);
    if (rank < distance) continue;
    co_yield b.recv_reduce(static_cast<std::uint32_t>(rank - distance), folded, b.output());
    folded = b.output();
  }
}

Schedule make(const Request& request) { return one_lane(recursive_doubling, request, steps); }

}  // namespace

const Algorithm recursive_doubling = {
    .name = "recursive_doubling",
    .collective = Collective::scan,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .method = "folds of 1, 2, 4, ... ranks go as many ranks up and are folded in front",
    .citation = "W. Hillis, G. Steele, Data parallel algorithms, CACM 29(12), 1986",
    .make = make,
};

}  // namespace tutti::scan
