// SPDX-License-Identifier: Apache-2.0
// Bucket all-reduce on a torus of w × h ranks: ring reduce-scatters along one dimension and then the other, and ring
// all-gathers back along both. One half of the pieces goes along the rows first, the other half along the columns
// first, so that both dimensions are busy all the time.
//
// Meant for large messages on a torus: every message goes to a neighbour, 2·n·(N-1)/N bytes are sent per rank, which is
// the least there can be, in 8 turns of w-1 or h-1 steps, two at a time. Any grid; a single row or column is one ring
// of all pieces. No scratch. Two lanes, one for the connections of each dimension.
//
//   rows     first half ↘  scatter   second ↘ scatter   second half gather   first ↘ gather
//   columns  second half   scatter   first    scatter   first half gather    second  gather
#include "algorithms/parts/bucket.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

Schedule make(const Request& request) { return parts::buckets(bucket_2d, request); }

}  // namespace

const Algorithm bucket_2d = {
    .name = "bucket_2d",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .takes = {.grid = true},
    .ranks = "w×h",
    .method = "ring reduce-scatters along rows and columns of a torus, then all-gathers back, on two halves at once",
    .citation =
        "M. Barnett, R. Littlefield, D. G. Payne, R. van de Geijn, Global combine on mesh architectures with wormhole "
        "routing, IPPS 1993; N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus "
        "interconnects, ICS 2010 (all dimensions at once)",
    .make = make,
};

}  // namespace tutti::all_reduce
