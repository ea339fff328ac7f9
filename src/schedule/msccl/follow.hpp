// SPDX-License-Identifier: Apache-2.0
// Follows the data of an MSCCL program through its steps. A piece of a schedule keeps its number wherever it goes, and
// a program says only between which chunks it goes: which piece a chunk of scratch holds shows where it came from.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/msccl/buffers.hpp"
#include "schedule/msccl/lanes.hpp"

namespace tutti::msccl {

// What a step does to one of its chunks; spots that its type does not use mean nothing.
struct Move {
  Spot source;       // read
  Spot old;          // of the destination, read by `re`
  Spot destination;  // written
  bool completes = false;
};

// A result that no step has written: in place it is the caller's input, where it stands.
struct Stays {
  std::uint32_t rank = 0;
  Spot input;
  Spot output;
};

struct Followed {
  std::vector<Move> moves;  // by LaneStep::first_move, then by chunk
  std::vector<Stays> stays;
  std::uint32_t scratch_blocks = 0;
};

// An error where a step reads what nothing has written, folds different pieces, or the steps wait for each other.
[[nodiscard]] Result<Followed> follow(const File& file, const Lanes& lanes, const Buffers& buffers);

}  // namespace tutti::msccl
