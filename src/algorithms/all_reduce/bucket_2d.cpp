// SPDX-License-Identifier: Apache-2.0
// Bucket all-reduce on a torus of w × h ranks: ring reduce-scatters along one dimension and then the other, and ring
// all-gathers back along both. One half of the pieces goes along the rows first, the other half along the columns
// first, so that both dimensions are busy all the time.
//
// Meant for large messages on a torus: every message goes to a neighbour, 2·n·(N-1)/N bytes are sent per rank, which is
// the least there can be, in 8 turns of w-1 or h-1 steps, two at a time. Any grid; a single row or column is one ring
// of all pieces. No scratch. Two lanes, one for the connections of each dimension: a connection then has one lane at
// each end also where a dimension has two ranks, whose neighbours to both sides are the same.
//
//   rows     first half ↘  scatter   second ↘ scatter   second half gather   first ↘ gather
//   columns  second half   scatter   first    scatter   first half gather    second  gather
#include "algorithms/parts/ring.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

using parts::Chunks;
using parts::fold_around;
using parts::hand_around;
using patterns::column_of;
using patterns::Line;
using patterns::row_of;

constexpr std::uint32_t kRows = 0;
constexpr std::uint32_t kColumns = 1;

// The lane of one dimension: it has the early turn of the half of its own, then the late turn of the other half, and
// back. `line` is its ring, `other` that of the other dimension.
Lane dimension(Builder& b, Line line, Line other, std::uint32_t half, std::uint32_t other_half,
               std::uint32_t other_lane) {
  const Chunks early{half, other.length};
  const Chunks late{other_half + other.own * line.length, 1};
  const std::uint32_t all_others = line.length - 1;
  const std::uint32_t turn_of_other = 2 * (other.length - 1);
  for (Lane turn = fold_around(b, {line}, early, Space::input, false); const Step* step = turn.next();) co_yield *step;
  b.after(other_lane, turn_of_other - 1);
  for (Lane turn = fold_around(b, {line}, late, Space::output, true); const Step* step = turn.next();) co_yield *step;
  for (Lane turn = hand_around(b, {line}, late, all_others); const Step* step = turn.next();) co_yield *step;
  b.after(other_lane, 3 * turn_of_other - 1);
  for (Lane turn = hand_around(b, {line}, early, all_others); const Step* step = turn.next();) co_yield *step;
}

Schedule make(const Request& request) {
  const Grid grid = request.parameters.grid;
  const std::uint32_t half = request.num_ranks;
  if (grid.width == 1 || grid.height == 1) {
    Schedule schedule = header_of(bucket_2d, request, half);
    schedule.lane = [grid](Builder& b, std::uint32_t) {
      return parts::fold_and_hand_around(b, {grid.height == 1 ? row_of(grid, b.rank()) : column_of(grid, b.rank())},
                                         {});
    };
    return schedule;
  }
  Schedule schedule = header_of(bucket_2d, request, 2 * half, 2);
  schedule.lane = [grid, half](Builder& b, std::uint32_t lane) {
    const Line row = row_of(grid, b.rank());
    const Line column = column_of(grid, b.rank());
    return lane == kRows ? dimension(b, row, column, 0, half, kColumns) : dimension(b, column, row, half, 0, kRows);
  };
  return schedule;
}

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
