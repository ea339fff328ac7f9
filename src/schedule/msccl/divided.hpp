// SPDX-License-Identifier: Apache-2.0
// The check that prove() cannot do of an imported program: a chunk that holds different pieces at different times is
// different memory in a schedule, so that using it too early or too late would no longer show.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "schedule/msccl/buffers.hpp"
#include "schedule/msccl/lanes.hpp"

namespace tutti::msccl {

// A chunk of a rank.
struct DividedCell {
  std::uint32_t rank = 0;
  std::uint32_t cell = 0;
};

// An error where two uses of one of these cells, one of them writing, are not ordered by steps, messages and waits. The
// program's steps can all be taken.
[[nodiscard]] Status check_order(const File& file, const Lanes& lanes, const Buffers& buffers,
                                 const std::vector<DividedCell>& cells);

}  // namespace tutti::msccl
