// SPDX-License-Identifier: Apache-2.0
// What two cores can do at most with two inputs that both of two ranks have in memory: one pass that reads both once
// and stores the sum for each rank.
#pragma once

#include <cstddef>

namespace tutti::bars {

// Microseconds for inputs of so many bytes each; the median of some passes, of the better of plain and streaming
// stores. 0 where there is no memory for it.
[[nodiscard]] double one_pass_us(std::size_t bytes);

}  // namespace tutti::bars
