// SPDX-License-Identifier: Apache-2.0
#include "algorithms/parts/bucket.hpp"

#include <array>
#include <cstddef>

#include "algorithms/parts/ring.hpp"

namespace tutti::parts {

namespace {

using patterns::Line;

// The rings that one rank is on, those of one rank left out.
struct Lines {
  std::array<Line, 3> lines = {};
  std::uint32_t count = 0;

  // Numbers go around: behind the last dimension is the first.
  [[nodiscard]] const Line& of(std::uint32_t dimension) const { return lines[dimension % count]; }
};

Lines lines_of(const Grid& grid, std::uint32_t rank) {
  Lines lines;
  for (const Line& line :
       {patterns::row_of(grid, rank), patterns::column_of(grid, rank), patterns::pillar_of(grid, rank)})
    if (line.length > 1) lines.lines[lines.count++] = line;
  return lines;
}

// What is left of a share, whose first dimension has its number, after so many turns: a chunk for each place of the
// next dimension.
Chunks chunks_of(const Lines& lines, std::uint32_t share, std::uint32_t turns, std::uint32_t num_ranks) {
  Chunks chunks{share * num_ranks, num_ranks};
  for (std::uint32_t turn = 0;; ++turn) {
    const Line& line = lines.of(share + turn);
    chunks.size /= line.length;
    if (turn == turns) return chunks;
    chunks.first += line.own * chunks.size;
  }
}

// The lane of one dimension, as many turns there and back as there are dimensions: of its own share first, then of the
// one of the dimension before it, and so on. A share comes from the lane of the dimension before, and on the way back
// from the one behind.
Lane dimension(Builder& b, Lines lines, std::uint32_t own, std::uint32_t num_ranks) {
  const std::uint32_t count = lines.count;
  const Line line = lines.of(own);
  const auto chunks_in = [&](std::uint32_t turn) {
    return chunks_of(lines, (own + count - turn) % count, turn, num_ranks);
  };
  const auto wait_for = [&](std::uint32_t other, std::uint32_t turns) {
    b.after(other % count, turns * num_steps_of_fold({lines.of(other)}) - 1);
  };
  for (std::uint32_t turn = 0; turn < count; ++turn) {
    if (turn > 0) wait_for(own + count - 1, turn);
    Lane fold = fold_around(b, {line}, chunks_in(turn), turn == 0 ? Space::input : Space::output, turn + 1 == count);
    while (const Step* step = fold.next()) co_yield *step;
  }
  for (std::uint32_t turn = count; turn-- > 0;) {
    if (turn + 1 < count) wait_for(own + 1, 2 * count - 1 - turn);
    Lane hand = hand_around(b, {line}, chunks_in(turn), line.length - 1);
    while (const Step* step = hand.next()) co_yield *step;
  }
}

}  // namespace

Schedule buckets(const Algorithm& algorithm, const Request& request) {
  const Grid grid = request.parameters.grid;
  const std::uint32_t num_ranks = request.num_ranks;
  const std::uint32_t dimensions = lines_of(grid, 0).count;
  if (dimensions < 2) {
    Schedule schedule = header_of(algorithm, request, num_ranks);
    schedule.lane = [](Builder& b, std::uint32_t) { return fold_and_hand_around(b, ring_of_all(b), {}); };
    return schedule;
  }
  Schedule schedule = header_of(algorithm, request, dimensions * num_ranks, dimensions);
  schedule.lane = [grid, num_ranks](Builder& b, std::uint32_t lane) {
    return dimension(b, lines_of(grid, b.rank()), lane, num_ranks);
  };
  return schedule;
}

}  // namespace tutti::parts
