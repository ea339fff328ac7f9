// SPDX-License-Identifier: Apache-2.0
// The pieces of all ranks' buffers, each with the value that it holds and the accesses that it has seen.
//
// Input and output have a piece for each round of an operation, since rounds carry different elements; scratch is the
// same memory in every round. The next operation works on the same buffers again. One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/prove/happens_before.hpp"
#include "schedule/prove/symbolic_value.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// A value and the round that it belongs to: the same expression in another round is about other elements.
struct Held {
  ValueId id = kNothing;
  std::uint32_t round = 0;
};

struct Cell {
  Held held;
  AccessHistory history;
};

class SymbolicMemory {
 public:
  // `operations` are the numbers of rounds of the operations that follow one another.
  SymbolicMemory(const Schedule& schedule, const std::vector<std::uint32_t>& operations, bool in_place);

  [[nodiscard]] Cell& at(std::uint32_t rank, Space space, Origin place, std::uint32_t round);
  // The rank's input as its caller fills it for the operation that begins with `first_round`.
  void fill(std::uint32_t rank, std::uint32_t first_round, std::uint32_t num_rounds, ValueTable& values);
  // Every piece of the rank's input, output and scratch, once.
  template <typename Visit>
  void for_each(std::uint32_t rank, Visit visit) {
    const std::size_t begin = rank * cells_per_rank_;
    for (std::size_t cell = begin; cell < begin + cells_per_rank_; ++cell) visit(cells_[cell]);
  }

 private:
  [[nodiscard]] std::size_t size_of(Space space) const {
    const Division& division = schedule_.division(space);
    return std::size_t{division.blocks} * division.pieces;
  }

  const Schedule& schedule_;
  bool in_place_;
  std::vector<std::uint32_t> window_of_round_;
  std::uint32_t num_windows_ = 0;
  std::size_t cells_of_caller_ = 0;
  std::size_t cells_per_rank_ = 0;
  std::vector<Cell> cells_;
};

}  // namespace tutti
