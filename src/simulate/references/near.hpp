// SPDX-License-Identifier: Apache-2.0
// What is known of a quantity at other numbers of ranks and sizes, and what that says of one in between. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tutti::simulate {

struct Known {
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 0;
  double value = 0;
};

enum class Near : std::uint8_t {
  nearest,  // the value at the nearest number of ranks, of these the nearest size
  linear,   // straight lines in ranks and bytes, also beyond the last
  log_log,  // the same in the logarithms of all three
};

// Nothing where nothing is known. First over the sizes of each number of ranks, then over these.
[[nodiscard]] std::optional<double> value_near(std::span<const Known> known, std::uint32_t ranks, std::uint64_t bytes,
                                               Near how);

}  // namespace tutti::simulate
