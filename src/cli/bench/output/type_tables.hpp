// SPDX-License-Identifier: Apache-2.0
// What `tutti list types` and `tutti list operators` show. Pure functions; thread-safe.
#pragma once

#include "bench/views/table.hpp"

namespace tutti::cli {

[[nodiscard]] Table types_table();
// Those that a bench can measure: an operator of the caller's own is none.
[[nodiscard]] Table operators_table();

}  // namespace tutti::cli
