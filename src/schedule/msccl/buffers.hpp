// SPDX-License-Identifier: Apache-2.0
// Which memory the chunks of an MSCCL program are, and where a schedule has it. A chunk is a cell; in place, chunks of
// input and output that are the same memory are the same cell. Immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/msccl/file.hpp"
#include "schedule/step.hpp"

namespace tutti::msccl {

// A piece of a block.
struct Spot {
  Space space = Space::input;
  std::uint32_t block = 0;
  std::uint32_t piece = 0;

  friend bool operator==(const Spot&, const Spot&) = default;
};

class Buffers {
 public:
  static Result<Buffers> of(const File& file);

  // Of each block.
  [[nodiscard]] std::uint32_t pieces() const { return pieces_; }
  // Whether input and output are the same memory, so that a program may write to both.
  [[nodiscard]] bool shared() const { return shared_; }

  [[nodiscard]] std::uint32_t num_cells(std::uint32_t rank) const {
    return num_inputs_ + num_outputs_ + scratch_chunks_[rank];
  }
  [[nodiscard]] std::uint32_t num_chunks(std::uint32_t rank, Buffer buffer) const {
    if (buffer == Buffer::scratch) return scratch_chunks_[rank];
    return buffer == Buffer::input ? num_inputs_ : num_outputs_;
  }
  // Nothing where the collective's buffer, or the scratch of the rank, has no such chunk.
  [[nodiscard]] std::optional<std::uint32_t> cell(std::uint32_t rank, Buffer buffer, std::uint32_t chunk) const;
  // The piece of the rank's input that the cell holds in the beginning.
  [[nodiscard]] std::optional<Spot> input(std::uint32_t rank, std::uint32_t cell) const;
  // The piece of the rank's output that it is.
  [[nodiscard]] std::optional<Spot> output(std::uint32_t rank, std::uint32_t cell) const;
  // "i3", as the program names it.
  [[nodiscard]] static std::string name(Buffer buffer, std::uint32_t chunk);

 private:
  Collective collective_ = Collective::all_reduce;
  bool shared_ = false;
  std::uint32_t pieces_ = 1;
  // Cells of a rank: inputs, then outputs, then scratch.
  std::uint32_t num_inputs_ = 0;
  std::uint32_t num_outputs_ = 0;
  std::vector<std::uint32_t> scratch_chunks_;  // by rank
};

}  // namespace tutti::msccl
