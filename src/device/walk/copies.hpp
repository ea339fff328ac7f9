// SPDX-License-Identifier: Apache-2.0
// Programs that only copy between buffers, as lists of copies, which the copy engines of devices do by themselves.
// Ranks meet before their copies, and again behind them. In between nobody waits. What a rank copies after that is its
// own memory. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "device/walk/program.hpp"

namespace tutti::device {

struct Copy {
  WordEnd source;
  WordEnd destination;
  std::uint32_t first_piece = 0;
  std::uint32_t num_pieces = 0;
};

// In order.
struct CopyProgram {
  std::vector<Copy> between;  // the two times that ranks meet
  std::vector<Copy> behind;
};
using CopyPrograms = std::vector<CopyProgram>;  // by rank

// Code::unsupported, with the reason, where the programs do more than that.
[[nodiscard]] Result<CopyPrograms> make_copy_programs(const Schedule& schedule, const WordPrograms& words);

// The bytes of a copy within its block. `piece` is WalkCall::piece.
struct CopyRange {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] CopyRange range_of(const Copy& copy, std::uint64_t count, std::uint64_t piece, std::uint32_t element);

}  // namespace tutti::device
