// SPDX-License-Identifier: Apache-2.0
// Bucket all-reduce on a mesh of w × h ranks without wrap-around: reduce-scatters along the rows and then the columns,
// and all-gathers back, where along a line two pipelines run against each other.
//
// Meant for large messages on a mesh: every message goes to a neighbour on the grid, and a dimension of length d takes
// d-1 steps each way. Between two neighbours of a row all pieces pass in each direction, between two of a column those
// of one chunk of the row. Any grid; no scratch. In rank order at no cost: what comes from before a rank is folded
// before its own, what comes from behind it, behind. Two lanes: what goes forward (right, down) and what goes back.
//
//   scattering along a line, chunk 2   0 ──▶ 1 ──▶ 2 ◀── 3      0 + 1 come from before, 3 from behind
//   gathering it                       0 ◀── 1 ◀── 2 ──▶ 3
#include "algorithms/patterns/grid.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

using patterns::column_of;
using patterns::Line;
using patterns::row_of;

constexpr std::uint32_t kForward = 0;
constexpr std::uint32_t kBack = 1;

// A turn of both lanes: scattering or gathering along one line, a chunk of `size` pieces from `first` on for each rank.
struct Turn {
  Line line;
  std::uint32_t first = 0;
  std::uint32_t size = 1;
  Space from = Space::input;
  bool completes = false;

  [[nodiscard]] Slice chunk(Space space, std::uint32_t place) const { return {space, 0, first + place * size, size}; }
  [[nodiscard]] Slice result(std::uint32_t place) const { return chunk(Space::output, place); }
  [[nodiscard]] bool is_first() const { return line.own == 0; }
  [[nodiscard]] bool is_last() const { return line.own + 1 == line.length; }
  [[nodiscard]] std::uint32_t behind() const { return line.length - 1 - line.own; }  // ranks behind this one

  // Steps of each lane of this rank.
  [[nodiscard]] std::uint32_t scatter_steps(std::uint32_t lane) const {
    if (lane == kForward) return is_first() ? behind() : 2 * behind() + 1;
    return is_last() ? line.own : 2 * line.own + 1;
  }
  [[nodiscard]] std::uint32_t gather_steps(std::uint32_t lane) const {
    if (lane == kForward) return is_last() ? line.own : 2 * line.own + 1;
    return is_first() ? behind() : 2 * behind() + 1;
  }
};

// Sends a chunk that nothing reads here again; an input is the caller's, and stays.
const Step& send_on(Builder& b, std::uint32_t to, Slice slice) {
  return slice.space == Space::input ? b.send(to, slice) : b.send_away(to, slice);
}

// The farthest chunk first, so that all of them arrive at their ranks in the same step.
Lane scatter_forward(Builder& b, Turn turn) {
  const Line& line = turn.line;
  for (std::uint32_t place = line.length - 1; place > line.own; --place) {
    if (turn.is_first()) {
      co_yield send_on(b, line.next(), turn.chunk(turn.from, place));
    } else {
      co_yield b.recv_reduce(line.previous(), turn.chunk(turn.from, place), turn.result(place));
      co_yield b.send_away(line.next(), turn.result(place));
    }
  }
  if (turn.is_first()) co_return;
  if (turn.completes && turn.is_last()) b.completing();
  co_yield b.recv_reduce(line.previous(), turn.chunk(turn.from, line.own), turn.result(line.own));
}

// `before` steps of the forward lane come before this turn.
Lane scatter_back(Builder& b, Turn turn, std::uint32_t before) {
  const Line& line = turn.line;
  for (std::uint32_t place = 0; place < line.own; ++place) {
    if (turn.is_last()) {
      co_yield send_on(b, line.previous(), turn.chunk(turn.from, place));
    } else {
      co_yield b.reduce_recv(turn.chunk(turn.from, place), line.next(), turn.result(place));
      co_yield b.send_away(line.previous(), turn.result(place));
    }
  }
  if (turn.is_last()) co_return;
  // Behind what the forward lane has folded into this rank's own chunk.
  if (!turn.is_first()) b.after(kForward, before + turn.scatter_steps(kForward) - 1);
  if (turn.completes) b.completing();
  co_yield b.reduce_recv(turn.chunk(turn.is_first() ? turn.from : Space::output, line.own), line.next(),
                         turn.result(line.own));
}

Lane gather_forward(Builder& b, Turn turn) {
  const Line& line = turn.line;
  if (!turn.is_last()) co_yield b.send(line.next(), turn.result(line.own));
  for (std::uint32_t place = line.own; place-- > 0;) {
    co_yield b.recv(line.previous(), turn.result(place));
    if (!turn.is_last()) co_yield b.send(line.next(), turn.result(place));
  }
}

Lane gather_back(Builder& b, Turn turn) {
  const Line& line = turn.line;
  if (!turn.is_first()) co_yield b.send(line.previous(), turn.result(line.own));
  for (std::uint32_t place = line.own + 1; place < line.length; ++place) {
    co_yield b.recv(line.next(), turn.result(place));
    if (!turn.is_first()) co_yield b.send(line.previous(), turn.result(place));
  }
}

Lane steps(Builder& b, Turn rows, Turn columns, std::uint32_t lane) {
  const std::uint32_t other = kForward + kBack - lane;
  std::uint32_t others = 0;  // steps of the other lane before the turn
  const auto scatter = [&](Turn turn) {
    return lane == kForward ? scatter_forward(b, turn) : scatter_back(b, turn, others);
  };
  const auto gather = [&](Turn turn) { return lane == kForward ? gather_forward(b, turn) : gather_back(b, turn); };
  // A turn works on what both lanes have made in the turn before.
  const auto wait_for_other = [&](std::uint32_t steps_of_turn) {
    others += steps_of_turn;
    if (steps_of_turn != 0) b.after(other, others - 1);
  };

  for (Lane turn = scatter(rows); const Step* step = turn.next();) co_yield *step;
  wait_for_other(rows.scatter_steps(other));
  for (Lane turn = scatter(columns); const Step* step = turn.next();) co_yield *step;
  wait_for_other(columns.scatter_steps(other));
  for (Lane turn = gather(columns); const Step* step = turn.next();) co_yield *step;
  wait_for_other(columns.gather_steps(other));
  for (Lane turn = gather(rows); const Step* step = turn.next();) co_yield *step;
}

Lane alone(Builder& b) {
  b.completing();
  co_yield b.copy(b.input(), b.output());
}

Schedule make(const Request& request) {
  if (request.num_ranks == 1) {
    Schedule schedule = header_of(bucket_mesh, request, 1);
    schedule.lane = [](Builder& b, std::uint32_t) { return alone(b); };
    return schedule;
  }
  Schedule schedule = header_of(bucket_mesh, request, request.num_ranks, 2);
  schedule.lane = [grid = request.parameters.grid](Builder& b, std::uint32_t lane) {
    const Line row = row_of(grid, b.rank());
    const Line column = column_of(grid, b.rank());
    const Turn rows = {.line = row, .first = 0, .size = grid.height, .completes = grid.height == 1};
    const Turn columns = {.line = column,
                          .first = row.own * grid.height,
                          .size = 1,
                          .from = grid.width == 1 ? Space::input : Space::output,
                          .completes = true};
    return steps(b, rows, columns, lane);
  };
  return schedule;
}

}  // namespace

const Algorithm bucket_mesh = {
    .name = "bucket_mesh",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .takes = {.grid = true},
    .ranks = "w×h",
    .method = "reduce-scatters along rows and columns of a mesh as pipelines in both directions, then all-gathers back",
    .citation =
        "M. Barnett, R. Littlefield, D. G. Payne, R. van de Geijn, Global combine on mesh architectures with wormhole "
        "routing, IPPS 1993 (the bucket algorithm, here as two pipelines against each other)",
    .make = make,
};

}  // namespace tutti::all_reduce
