// SPDX-License-Identifier: Apache-2.0
// What each collective defines: which contributions each output piece of each rank must hold, which blocks a rank has,
// how large they are, and which input and output blocks are the same memory in place. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/prove/symbolic_value.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// An output piece holds the input piece `origin` of the ranks `first` to `end` - 1, folded where they are several.
struct Expected {
  Origin origin;
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

// Null where the rank has no such output: at other ranks than the root, and of the first rank of an exclusive scan.
[[nodiscard]] std::optional<Expected> expected_output(const Schedule& schedule, std::uint32_t rank, Origin output);

// Whether the rank's caller gives it that block at all. Scratch is everybody's.
[[nodiscard]] bool has_block(const Schedule& schedule, std::uint32_t rank, Space space, std::uint32_t block);

// How many contributions a finished result has; null where nothing is folded, or where one rank's result is another's
// beginning (scans), so that nothing has a final touch.
[[nodiscard]] std::optional<std::uint32_t> contributions_of_result(const Schedule& schedule);

// In place: the input block of `rank` that is the same memory as its output block. (Of an all-to-all whose blocks vary,
// the two must be of one size: each pair of ranks then exchanges as much as it gets.)
[[nodiscard]] std::optional<std::uint32_t> input_behind(const Schedule& schedule, std::uint32_t rank,
                                                        std::uint32_t output_block);

// Which of the collective's sizes an input or output block of `rank` has: blocks of the same number are alike. All are
// 0 where blocks do not vary. Scratch has the size of whatever is put there, so collectives that vary have none.
[[nodiscard]] std::uint32_t size_class(const Schedule& schedule, std::uint32_t rank, Space space, std::uint32_t block);
[[nodiscard]] std::uint32_t num_size_classes(const Schedule& schedule);

}  // namespace tutti
