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
#include "algorithms/patterns/grid.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

using patterns::column_of;
using patterns::Line;
using patterns::row_of;

constexpr std::uint32_t kRows = 0;
constexpr std::uint32_t kColumns = 1;

// One chunk of `size` pieces for each rank of a ring, from piece `first` on.
struct Chunks {
  std::uint32_t first = 0;
  std::uint32_t size = 1;
  [[nodiscard]] Slice of(Space space, std::uint32_t place) const { return {space, 0, first + place * size, size}; }
};

// Leaves every rank of the ring with the chunk of its own place, folded. 2(length - 1) steps.
Lane reduce_scatter(Builder& b, Line line, Chunks chunks, Space from, bool completes) {
  const std::uint32_t first = line.place_before(1);
  // The input stays the caller's; what an earlier turn has made is of no use here any more.
  co_yield from == Space::input ? b.send(line.next(), chunks.of(from, first))
                                : b.send_away(line.next(), chunks.of(from, first));
  for (std::uint32_t step = 2; step <= line.length; ++step) {
    const std::uint32_t place = line.place_before(step);
    if (completes && step == line.length) b.completing();
    co_yield b.recv_reduce(line.previous(), chunks.of(from, place), chunks.of(Space::output, place));
    if (step < line.length) co_yield b.send_away(line.next(), chunks.of(Space::output, place));
  }
}

// Hands the chunk of every rank's own place to the whole ring. 2(length - 1) steps.
Lane all_gather(Builder& b, Line line, Chunks chunks) {
  for (std::uint32_t step = 0; step + 1 < line.length; ++step) {
    co_yield b.send(line.next(), chunks.of(Space::output, line.place_before(step)));
    co_yield b.recv(line.previous(), chunks.of(Space::output, line.place_before(step + 1)));
  }
}

Lane ring_of_all(Builder& b, Line line) {
  if (line.length == 1) {
    b.completing();
    co_yield b.copy(b.input(), b.output());
    co_return;
  }
  const Chunks pieces{0, 1};
  for (Lane turn = reduce_scatter(b, line, pieces, Space::input, true); const Step* step = turn.next();) co_yield *step;
  for (Lane turn = all_gather(b, line, pieces); const Step* step = turn.next();) co_yield *step;
}

// The lane of one dimension: it has the early turn of the half of its own, then the late turn of the other half, and
// back. `line` is its ring, `other` that of the other dimension.
Lane dimension(Builder& b, Line line, Line other, std::uint32_t half, std::uint32_t other_half,
               std::uint32_t other_lane) {
  const Chunks early{half, other.length};
  const Chunks late{other_half + other.own * line.length, 1};
  const std::uint32_t turn_of_other = 2 * (other.length - 1);
  for (Lane turn = reduce_scatter(b, line, early, Space::input, false); const Step* step = turn.next();) co_yield *step;
  b.after(other_lane, turn_of_other - 1);
  for (Lane turn = reduce_scatter(b, line, late, Space::output, true); const Step* step = turn.next();) co_yield *step;
  for (Lane turn = all_gather(b, line, late); const Step* step = turn.next();) co_yield *step;
  b.after(other_lane, 3 * turn_of_other - 1);
  for (Lane turn = all_gather(b, line, early); const Step* step = turn.next();) co_yield *step;
}

Schedule make(const Request& request) {
  const Grid grid = request.parameters.grid;
  const std::uint32_t half = request.num_ranks;
  if (grid.width == 1 || grid.height == 1) {
    Schedule schedule = header_of(bucket_2d, request, half);
    schedule.lane = [grid](Builder& b, std::uint32_t) {
      return ring_of_all(b, grid.height == 1 ? row_of(grid, b.rank()) : column_of(grid, b.rank()));
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
