// How many bytes the steps of a simulated operation move, round by round. Pure; thread-safe.
#pragma once

#include <array>
#include <cstdint>

#include "schedule/layout.hpp"
#include "schedule/schedule.hpp"

namespace tutti::simulate {

class Sizes {
 public:
  // A window of 0 carries everything in one round.
  Sizes(const Schedule& schedule, std::uint64_t count, std::uint64_t element_size, std::uint64_t window)
      : element_size_(element_size),
        layouts_{layout(schedule, Space::input, count, window), layout(schedule, Space::output, count, window),
                 layout(schedule, Space::scratch, count, window)} {
    for (const PieceLayout& layout : layouts_) rounds_ = layout.num_rounds() > rounds_ ? layout.num_rounds() : rounds_;
  }

  [[nodiscard]] std::uint64_t num_rounds() const { return rounds_; }

  [[nodiscard]] std::uint64_t bytes(const Slice& slice, std::uint64_t round) const {
    const PieceLayout& layout = layouts_[static_cast<std::size_t>(slice.space)];
    std::uint64_t elements = 0;
    if (rounds_ == 1) {
      elements = layout.whole(slice.first_piece, slice.num_pieces).length;
    } else {
      for (std::uint32_t piece = 0; piece < slice.num_pieces; ++piece)
        elements += layout.run(slice.first_piece + piece, round).length;
    }
    return elements * slice.num_blocks * element_size_;
  }

 private:
  static PieceLayout layout(const Schedule& schedule, Space space, std::uint64_t count, std::uint64_t window) {
    return {count, schedule.division(space).pieces, window == 0 ? UINT64_MAX : window};
  }

  std::uint64_t element_size_;
  std::array<PieceLayout, kNumSpaces> layouts_;
  std::uint64_t rounds_ = 1;
};

}  // namespace tutti::simulate
