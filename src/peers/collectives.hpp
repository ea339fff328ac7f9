// SPDX-License-Identifier: Apache-2.0
// The benches of collectives, declared once for all peers: all_reduce, all_gather, reduce_scatter, broadcast, reduce,
// all_to_all, gather, scatter, scan, exclusive_scan and barrier.
//
// Axes (barrier has none): bytes as nccl-tests means them (the total for those made of blocks, of all-to-all one rank's
// whole buffer), type, op where they reduce, in_place (0 or 1), root where there is one. Bytes are rounded down to
// whole elements, and to equal blocks; the counter `count` has the elements of the call (of one block where there are
// blocks), and the message's bytes are those that are left. A size that holds no element for each block is skipped.
#pragma once

#include <vector>

#include "peers/peer.hpp"
#include <tutti/bench.hpp>

namespace tutti::peers {

// `peer` outlives them. Null where only the declarations are wanted, and no body is run.
[[nodiscard]] std::vector<Bench> collective_benches(Peer* peer);

}  // namespace tutti::peers
