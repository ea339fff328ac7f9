// SPDX-License-Identifier: Apache-2.0
// The memory of all ranks that the oracle's interpreter works on, and what must stand in it in the end. It says again,
// without a line of definition.cpp, what each collective is: so a mistake made there shows here.
//
// Immutable once made; borrows the schedule. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/oracle/oracle_element.hpp"
#include "schedule/schedule.hpp"

namespace tutti::oracle {

// How the elements of a run of operations are counted.
struct Sizes {
  std::vector<std::uint32_t> operations = {2, 1};  // rounds of one operation after another
  std::uint32_t window = 2;                        // the most elements of a piece that a round carries
  // Whether the last round is not full, and the last piece shorter than others. Whatever is late in a round that
  // carries nothing does no harm, so both are tried.
  bool ragged = false;
};

// A round of an operation.
struct When {
  std::uint32_t operation = 0;
  std::uint32_t round = 0;  // of the operation
};

// One element of a rank's result.
struct Wanted {
  std::uint32_t cell = 0;
  std::uint32_t result = 0;  // the same number on every rank that has the same result
  std::uint32_t block = 0;
  std::uint32_t piece = 0;
  Element element;
};

// What the caller puts into a cell before an operation.
struct Filled {
  std::uint32_t cell = 0;
  Element element;
};

class Memory {
 public:
  Memory(const Schedule& schedule, Sizes sizes, bool in_place, std::uint64_t seed);

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const Sizes& sizes() const { return sizes_; }
  [[nodiscard]] bool folds() const;       // contributions are scaled where they are read from an input
  [[nodiscard]] bool has_finish() const;  // results are finished by steps that complete
  // Whether there are these blocks at all, and whether the rank's caller gives them.
  [[nodiscard]] bool is_inside(const Slice& slice) const;
  [[nodiscard]] bool has(std::uint32_t rank, const Slice& slice) const;
  // The blocks of a slice that is inside, in the order of a message.
  [[nodiscard]] std::vector<std::uint32_t> blocks_of(const Slice& slice) const;

  // How many elements of a piece the round carries, and where they stand.
  [[nodiscard]] std::uint32_t length(std::uint32_t rank, Space space, std::uint32_t block, std::uint32_t piece,
                                     When when) const;
  [[nodiscard]] std::uint32_t cell(std::uint32_t rank, Space space, std::uint32_t block, std::uint32_t piece,
                                   std::uint32_t round) const;
  [[nodiscard]] std::uint32_t num_cells() const { return cells_per_rank_ * schedule_.num_ranks; }
  [[nodiscard]] std::uint32_t num_results() const { return cells_per_rank_; }

  // All cells of the rank as its caller leaves them before the operation, scratch among them, which other operations
  // may have used.
  [[nodiscard]] std::vector<Filled> filled(std::uint32_t rank, std::uint32_t operation) const;
  // What it must find in its output afterwards, and
  [[nodiscard]] std::vector<Wanted> wanted(std::uint32_t rank, std::uint32_t operation) const;
  // where nothing may have changed: inputs that are no output, and outputs that the collective leaves alone.
  [[nodiscard]] std::vector<Filled> untouched(std::uint32_t rank, std::uint32_t operation) const;

 private:
  // The fold of one input block of the ranks `first` to `end` - 1.
  struct Fold {
    std::uint32_t block = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };
  [[nodiscard]] bool has(std::uint32_t rank, Space space, std::uint32_t block) const;
  [[nodiscard]] std::optional<Fold> fold_of(std::uint32_t rank, std::uint32_t block) const;
  // In place: the input block that is the memory of the output block.
  [[nodiscard]] std::optional<std::uint32_t> input_under(std::uint32_t rank, std::uint32_t block) const;
  [[nodiscard]] Element contribution(std::uint32_t rank, std::uint32_t block, std::uint32_t piece, std::uint32_t at,
                                     When when) const;
  [[nodiscard]] std::uint32_t elements(std::uint32_t rank, Space space, std::uint32_t block, std::uint32_t piece,
                                       std::uint32_t operation) const;
  template <typename Visit>
  void for_each(std::uint32_t rank, Space space, std::uint32_t operation, Visit visit) const;

  const Schedule& schedule_;
  Sizes sizes_;
  bool in_place_;
  std::uint64_t seed_;
  std::uint32_t rounds_ = 0;  // of the longest operation
  std::uint32_t begin_of_output_ = 0;
  std::uint32_t begin_of_scratch_ = 0;
  std::uint32_t cells_per_rank_ = 0;
};

}  // namespace tutti::oracle
