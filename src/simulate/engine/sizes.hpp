// SPDX-License-Identifier: Apache-2.0
// How many bytes the steps of a simulated operation move, round by round. Pure; thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/layout.hpp"
#include "schedule/prove/definition.hpp"
#include "schedule/schedule.hpp"

namespace tutti::simulate {

class Sizes {
 public:
  // Blocks of `count` elements each; or, where the collective has blocks of different sizes and counts are given, those
  // of each size class (schedule/definition.hpp). A window of 0 carries everything in one round.
  Sizes(const Schedule& schedule, std::uint64_t count, std::span<const std::uint64_t> counts,
        std::uint64_t element_size, std::uint64_t window)
      : schedule_(&schedule), element_size_(element_size), varies_(!counts.empty()) {
    const std::uint64_t alike[] = {count};
    for (const std::uint64_t each : varies_ ? counts : std::span<const std::uint64_t>(alike)) {
      counts_.push_back(each);
      std::array<PieceLayout, kNumSpaces>& spaces =
          classes_.emplace_back(std::array{layout(Space::input, each, window), layout(Space::output, each, window),
                                           layout(Space::scratch, each, window)});
      for (const PieceLayout& layout : spaces) rounds_ = std::max(rounds_, layout.num_rounds());
    }
  }

  [[nodiscard]] std::uint64_t num_rounds() const { return rounds_; }

  // Of a slice of that rank's.
  [[nodiscard]] std::uint64_t bytes(std::uint32_t rank, const Slice& slice, std::uint64_t round) const {
    if (!varies_) return of_block(0, slice, round) * slice.num_blocks * element_size_;
    const std::uint32_t blocks = schedule_->division(slice.space).blocks;
    std::uint64_t elements = 0;
    for (std::uint32_t i = 0; i < slice.num_blocks; ++i)
      elements += of_block(size_class(*schedule_, rank, slice.space, block_at(slice, i, blocks)), slice, round);
    return elements * element_size_;
  }

  // All that the rank's input, output and scratch have, in all rounds; in place the input is part of the output, or the
  // other way round.
  [[nodiscard]] double touched(std::uint32_t rank, bool in_place) const {
    std::array<double, kNumSpaces> bytes = {};
    for (int number = 0; number < kNumSpaces; ++number) {
      const auto space = static_cast<Space>(number);
      const std::uint32_t blocks = schedule_->division(space).blocks;
      double& sum = bytes.at(static_cast<std::size_t>(number));
      if (!varies_) sum = static_cast<double>(counts_[0] * element_size_) * blocks;
      for (std::uint32_t block = 0; varies_ && block < blocks; ++block)
        sum += static_cast<double>(counts_[size_class(*schedule_, rank, space, block)] * element_size_);
    }
    const double input = bytes[static_cast<std::size_t>(Space::input)];
    const double output = bytes[static_cast<std::size_t>(Space::output)];
    return (in_place ? std::max(input, output) : input + output) + bytes[static_cast<std::size_t>(Space::scratch)];
  }

 private:
  [[nodiscard]] PieceLayout layout(Space space, std::uint64_t count, std::uint64_t window) const {
    return {count, schedule_->division(space).pieces, window == 0 ? UINT64_MAX : window};
  }

  // The elements of the slice's pieces in one block.
  [[nodiscard]] std::uint64_t of_block(std::uint32_t size_class, const Slice& slice, std::uint64_t round) const {
    const PieceLayout& layout = classes_[size_class][static_cast<std::size_t>(slice.space)];
    if (rounds_ == 1) return layout.whole(slice.first_piece, slice.num_pieces).length;
    std::uint64_t elements = 0;
    for (std::uint32_t piece = 0; piece < slice.num_pieces; ++piece)
      elements += layout.run(slice.first_piece + piece, round).length;
    return elements;
  }

  const Schedule* schedule_;
  std::vector<std::uint64_t> counts_;  // by size class
  std::uint64_t element_size_;
  bool varies_;
  std::vector<std::array<PieceLayout, kNumSpaces>> classes_;
  std::uint64_t rounds_ = 1;
};

}  // namespace tutti::simulate
