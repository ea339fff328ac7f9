// SPDX-License-Identifier: Apache-2.0
// The bench `layer`: a layer of a network whose weights are spread over the ranks. Each rank multiplies its part of the
// inner dimension, and an all-reduce adds the products: in one piece after the product, or in tiles, each while the
// next one is multiplied.
//
// Axes: tokens (rows), width (columns, and the inner dimension of all ranks together), tiles (of the rows; 1:
// blocking). The counter gemm_us is what the product alone takes while all ranks multiply.
#pragma once

#include "peers/peer.hpp"
#include <tutti/bench.hpp>

namespace tutti::peers {

// `peer` must outlive it. Null if only the declaration is wanted.
[[nodiscard]] Bench layer_bench(Peer* peer);

}  // namespace tutti::peers
