// SPDX-License-Identifier: Apache-2.0
#include "schedule/msccl/follow.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "schedule/msccl/divided.hpp"

namespace tutti::msccl {

namespace {

// All that there is of scratch, over all ranks: its blocks have as many pieces as any other.
constexpr std::uint64_t kMostScratchPieces = std::uint64_t{1} << 26U;

struct Value {
  std::uint32_t piece = 0;
  std::uint32_t count = 0;  // contributions; 0 for nothing
  bool finished = false;    // some step has completed it
};

class Follower {
 public:
  Follower(const File& file, const Lanes& lanes, const Buffers& buffers)
      : file_(file),
        lanes_(lanes),
        buffers_(buffers),
        num_ranks_(static_cast<std::uint32_t>(file.num_ranks)),
        messages_(lanes.num_messages),
        scratch_(num_ranks_) {
    followed_.moves.resize(lanes.num_moves);
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
      first_cell_.push_back(static_cast<std::uint32_t>(cells_.size()));
      for (std::uint32_t cell = 0; cell < buffers.num_cells(rank); ++cell) {
        Cell& own = cells_.emplace_back();
        const auto input = buffers.input(rank, cell);
        if (!input) continue;
        own.value = {input->piece, 1, false};
        own.spot = *input;
      }
    }
  }

  Result<Followed> run() {
    for (const BlockLane& lane : lanes_.lanes)
      for (const LaneStep& step : lane.steps) TUTTI_TRY(check_chunks(lane.rank, *step.file));
    StepOrder order(lanes_);
    while (const auto next = order.next()) {
      const BlockLane& lane = lanes_.lanes[next->lane];
      TUTTI_TRY(take(lane.rank, lane.steps[next->step]));
    }
    if (const auto stuck = order.stuck(file_)) return *stuck;
    TUTTI_TRY(check_divided());
    note_what_stays();
    TUTTI_TRY(place_scratch());
    return std::move(followed_);
  }

 private:
  struct Cell {
    Value value;
    Spot spot;                // where it is
    Spot met;                 // the first that any step has used
    bool is_met = false;      // there is one
    bool is_divided = false;  // there have been others, which are other memory
  };

  [[nodiscard]] Status wrong(const FileStep& step, std::string_view what) const {
    return wrong_at(file_.path, step.line, what);
  }

  // --- chunks ---

  [[nodiscard]] Status check_chunks(std::uint32_t rank, const FileStep& step) const {
    if (step.type->reads_source) TUTTI_TRY(check_side(rank, step, step.source_buffer, step.source, "srcoff"));
    if (step.type->writes) TUTTI_TRY(check_side(rank, step, step.destination_buffer, step.destination, "dstoff"));
    return {};
  }

  [[nodiscard]] Status check_side(std::uint32_t rank, const FileStep& step, Buffer buffer, std::int32_t first,
                                  std::string_view name) const {
    const FileGpu& gpu = *lanes_.gpus[rank];
    const std::int32_t declared = buffer == Buffer::input    ? gpu.input_chunks
                                  : buffer == Buffer::output ? gpu.output_chunks
                                                             : gpu.scratch_chunks;
    constexpr std::string_view kNames[] = {"i_chunks", "o_chunks", "s_chunks"};
    if (first < 0 || step.count > declared || first > declared - step.count) {
      return wrong(step, fmt::format("found {}=\"{}\" with cnt=\"{}\", expected chunks within the {} of {}", name,
                                     first, step.count, declared, kNames[static_cast<std::size_t>(buffer)]));
    }
    const auto last = static_cast<std::uint32_t>(first + step.count - 1);
    if (buffers_.cell(rank, buffer, last)) return {};
    return wrong(step,
                 fmt::format("found chunk {}, expected one that the buffer has: nchunksperloop and coll leave it {}",
                             Buffers::name(buffer, last), buffers_.num_chunks(rank, buffer)));
  }

  Cell& cell(std::uint32_t rank, Buffer buffer, std::int32_t chunk) {
    return cells_[first_cell_[rank] + *buffers_.cell(rank, buffer, static_cast<std::uint32_t>(chunk))];
  }

  // --- data ---

  Status take(std::uint32_t rank, const LaneStep& step) {
    const FileStep& file = *step.file;
    const StepType& type = *file.type;
    std::vector<Value> taken;
    if (type.receives) taken = std::exchange(messages_[step.received], {});
    for (std::int32_t chunk = 0; chunk < file.count; ++chunk) {
      Move& move = followed_.moves[step.first_move + static_cast<std::uint32_t>(chunk)];
      Value result;
      if (type.receives) result = taken[static_cast<std::size_t>(chunk)];
      if (type.reads_destination)
        TUTTI_TRY(read(rank, file, file.destination_buffer, file.destination + chunk, move.old, result));
      if (type.reads_source) TUTTI_TRY(read(rank, file, file.source_buffer, file.source + chunk, move.source, result));
      if (folds_ && !result.finished && result.count == num_ranks_) move.completes = result.finished = true;
      if (type.writes) move.destination = write(rank, file.destination_buffer, file.destination + chunk, result);
      if (type.sends) messages_[step.sent].push_back(result);
    }
    return {};
  }

  // Folds what the chunk holds into `result`, or begins with it.
  Status read(std::uint32_t rank, const FileStep& step, Buffer buffer, std::int32_t chunk, Spot& spot, Value& result) {
    Cell& own = cell(rank, buffer, chunk);
    const auto number = static_cast<std::uint32_t>(chunk);
    if (own.value.count == 0) {
      return wrong(step, fmt::format("found {} of gpu {} read, which nothing has written, expected it written before",
                                     Buffers::name(buffer, number), rank));
    }
    if (result.count != 0 && result.piece != own.value.piece) {
      return wrong(step, fmt::format("found piece {} folded with {} of gpu {}, which holds piece {}, expected the same "
                                     "piece of each: a result holds one",
                                     result.piece, Buffers::name(buffer, number), rank, own.value.piece));
    }
    const bool begins = result.count == 0;
    result = {own.value.piece, result.count + own.value.count, begins && own.value.finished};
    spot = own.spot;
    meet(own, spot);
    return {};
  }

  // To the output where the chunk is that piece of it, and else to a piece of scratch that stands for the chunk while
  // it holds this piece: block is the cell until place_scratch().
  Spot write(std::uint32_t rank, Buffer buffer, std::int32_t chunk, const Value& value) {
    const std::uint32_t index = *buffers_.cell(rank, buffer, static_cast<std::uint32_t>(chunk));
    Cell& own = cells_[first_cell_[rank] + index];
    const auto output = buffers_.output(rank, index);
    if (output && output->piece == value.piece) {
      own.spot = *output;
    } else {
      own.spot = {Space::scratch, index, value.piece};
      scratch_[rank].push_back(key_of(own.spot));
    }
    own.value = value;
    meet(own, own.spot);
    return own.spot;
  }

  static void meet(Cell& own, const Spot& spot) {
    if (!own.is_met) own.met = spot;
    own.is_met = true;
    // Input and output of one chunk are the same memory in place, and only then does it have both.
    const bool same_memory = own.met.space != Space::scratch && spot.space != Space::scratch;
    if (own.met != spot && !same_memory) own.is_divided = true;
  }

  Status check_divided() const {
    std::vector<DividedCell> divided;
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank)
      for (std::uint32_t index = 0; index < buffers_.num_cells(rank); ++index)
        if (cells_[first_cell_[rank] + index].is_divided) divided.push_back({rank, index});
    if (divided.empty()) return {};
    if (file_.in_place && file_.out_of_place) {
      return wrong_at(file_.path, file_.line,
                      fmt::format("found inplace=\"1\" and outofplace=\"1\", expected one of them: gpu {} keeps other "
                                  "data in a chunk of its input or output, which are the same memory in place only",
                                  divided[0].rank));
    }
    return check_order(file_, lanes_, buffers_, divided);
  }

  void note_what_stays() {
    for (std::uint32_t rank = 0; buffers_.shared() && rank < num_ranks_; ++rank) {
      for (std::uint32_t index = 0; index < buffers_.num_cells(rank); ++index) {
        const Cell& own = cells_[first_cell_[rank] + index];
        const auto output = buffers_.output(rank, index);
        if (output && own.value.count != 0 && own.spot.space == Space::input)
          followed_.stays.push_back({rank, own.spot, *output});
      }
    }
  }

  // --- scratch ---

  static std::uint64_t key_of(const Spot& spot) { return std::uint64_t{spot.block} << 32U | spot.piece; }

  // Gives each chunk that is scratch a block: the first whose piece of that number no chunk before it has, so that
  // chunks side by side that hold pieces side by side are a slice.
  Status place_scratch() {
    std::vector<std::vector<std::uint32_t>> blocks(num_ranks_);
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
      std::vector<std::uint64_t>& keys = scratch_[rank];
      std::sort(keys.begin(), keys.end());
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      std::vector<std::uint32_t> used(buffers_.pieces());
      for (const std::uint64_t key : keys) blocks[rank].push_back(used[key & UINT32_MAX]++);
      for (const std::uint32_t each : blocks[rank])
        followed_.scratch_blocks = std::max(followed_.scratch_blocks, each + 1);
    }
    const std::uint64_t all = std::uint64_t{followed_.scratch_blocks} * buffers_.pieces() * num_ranks_;
    if (all > kMostScratchPieces) {
      return wrong_at(file_.path, file_.line,
                      fmt::format("found chunks that need {} pieces of scratch, expected at most "
                                  "{}",
                                  all, kMostScratchPieces));
    }
    for (const BlockLane& lane : lanes_.lanes) {
      const auto place = [&, this](Spot& spot) {
        if (spot.space != Space::scratch) return;
        const std::vector<std::uint64_t>& keys = scratch_[lane.rank];
        const auto found = std::lower_bound(keys.begin(), keys.end(), key_of(spot)) - keys.begin();
        spot.block = blocks[lane.rank][static_cast<std::size_t>(found)];
      };
      for (const LaneStep& step : lane.steps) {
        for (std::uint32_t each = 0; each < static_cast<std::uint32_t>(step.file->count); ++each) {
          Move& move = followed_.moves[step.first_move + each];
          for (Spot* spot : {&move.source, &move.old, &move.destination}) place(*spot);
        }
      }
    }
    return {};
  }

  const File& file_;
  const Lanes& lanes_;
  const Buffers& buffers_;
  std::uint32_t num_ranks_;
  bool folds_ = facts_of(file_.collective).folds;
  std::vector<std::uint32_t> first_cell_;  // by rank
  std::vector<Cell> cells_;
  std::vector<std::vector<Value>> messages_;         // under way
  std::vector<std::vector<std::uint64_t>> scratch_;  // by rank: cells that hold pieces in scratch
  Followed followed_;
};

}  // namespace

Result<Followed> follow(const File& file, const Lanes& lanes, const Buffers& buffers) {
  return Follower(file, lanes, buffers).run();
}

}  // namespace tutti::msccl
