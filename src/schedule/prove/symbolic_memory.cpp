// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/symbolic_memory.hpp"

#include <algorithm>

#include "schedule/prove/definition.hpp"

namespace tutti {

SymbolicMemory::SymbolicMemory(const Schedule& schedule, const std::vector<std::uint32_t>& operations, bool in_place)
    : schedule_(schedule), in_place_(in_place) {
  for (const std::uint32_t rounds : operations) {
    for (std::uint32_t window = 0; window < rounds; ++window) window_of_round_.push_back(window);
    num_windows_ = std::max(num_windows_, rounds);
  }
  cells_of_caller_ = (size_of(Space::input) + size_of(Space::output)) * num_windows_;
  cells_per_rank_ = cells_of_caller_ + size_of(Space::scratch);
  cells_.resize(cells_per_rank_ * schedule.num_ranks);
}

Cell& SymbolicMemory::at(std::uint32_t rank, Space space, Origin place, std::uint32_t round) {
  if (space == Space::output && in_place_) {
    if (const auto block = input_behind(schedule_, rank, place.block)) {
      space = Space::input;
      place.block = *block;
    }
  }
  const std::size_t piece = std::size_t{place.block} * schedule_.division(space).pieces + place.piece;
  std::size_t index = rank * cells_per_rank_;
  switch (space) {
    case Space::input: index += window_of_round_[round] * size_of(Space::input) + piece; break;
    case Space::output:
      index += num_windows_ * size_of(Space::input) + window_of_round_[round] * size_of(Space::output) + piece;
      break;
    case Space::scratch: index += cells_of_caller_ + piece; break;
  }
  return cells_[index];
}

void SymbolicMemory::fill(std::uint32_t rank, std::uint32_t first_round, std::uint32_t num_rounds, ValueTable& values) {
  const Division& division = schedule_.division(Space::input);
  for (std::uint32_t block = 0; block < division.blocks; ++block) {
    if (!has_block(schedule_, rank, Space::input, block)) continue;
    for (std::uint32_t piece = 0; piece < division.pieces; ++piece) {
      const ValueId raw = values.contribution(rank, {block, piece});
      for (std::uint32_t round = first_round; round < first_round + num_rounds; ++round)
        at(rank, Space::input, {block, piece}, round).held = {raw, round};
    }
  }
}

}  // namespace tutti
