// What each collective defines: which contributions each output piece of each rank must hold, and which input and
// output blocks are the same memory in place. A new collective is a row in each function. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/schedule.hpp"
#include "schedule/symbolic_value.hpp"

namespace tutti {

// An output piece holds the input piece `origin` of every rank, folded, or of `only` that rank.
struct Expected {
  Origin origin;
  std::optional<std::uint32_t> only;
};

// Null where the collective leaves that output piece alone.
[[nodiscard]] std::optional<Expected> expected_output(const Schedule& schedule, std::uint32_t rank, Origin output);

// How many contributions a finished result has; null where nothing is folded, so that nothing has a final touch.
[[nodiscard]] std::optional<std::uint32_t> contributions_of_result(const Schedule& schedule);

// In place: the input block of `rank` that is the same memory as its output block.
[[nodiscard]] std::optional<std::uint32_t> input_behind(const Schedule& schedule, std::uint32_t rank,
                                                        std::uint32_t output_block);

}  // namespace tutti
