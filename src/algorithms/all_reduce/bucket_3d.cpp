// SPDX-License-Identifier: Apache-2.0
// Bucket all-reduce on a torus of w × h × d ranks: ring reduce-scatters along one dimension after the other, and ring
// all-gathers back. Each third of the pieces begins with another dimension, so that all three are busy all the time.
//
// Meant for large messages on a torus: every message goes to a neighbour, 2·n·(N-1)/N bytes are sent per rank, which is
// the least there can be, in 18 turns of w-1, h-1 or d-1 steps, three at a time. Any grid; with one rank along a
// dimension it is bucket_2d, along two it is one ring of all pieces. No scratch. Three lanes, one for the connections
// of each dimension.
//
//   rows     first  ↘ scatter   third  ↘ scatter   second  scatter, gather   third    gather   first    gather
//   columns  second ↘ scatter   first  ↘ scatter   third   scatter, gather   first    gather   second   gather
//   pillars  third    scatter   second   scatter   first   scatter, gather   second   gather   third    gather
#include "algorithms/parts/bucket.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

Schedule make(const Request& request) { return parts::buckets(bucket_3d, request); }

}  // namespace

const Algorithm bucket_3d = {
    .name = "bucket_3d",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .takes = {.grid = true, .depth = true},
    .ranks = "w×h×d",
    .method =
        "ring reduce-scatters along the three dimensions of a torus, then all-gathers back, on three thirds at once",
    .citation =
        "M. Barnett, R. Littlefield, D. G. Payne, R. van de Geijn, Global combine on mesh architectures with wormhole "
        "routing, IPPS 1993; N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus "
        "interconnects, ICS 2010 (all dimensions at once)",
    .make = make,
};

}  // namespace tutti::all_reduce
