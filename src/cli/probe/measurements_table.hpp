// SPDX-License-Identifier: Apache-2.0
// What `tutti probe --calibrate` measured, as a table. Pure; thread-safe.
#pragma once

#include <vector>

#include "bench/views/table.hpp"
#include "calibrate/measurements.hpp"

namespace tutti::cli {

// A row for each size of a message, with what a hop takes; of a swap; and for each working set, with what memory gives.
[[nodiscard]] Table table_of_measurements(const calibrate::Measurements& measured);
// The same for people, who read a table of each kind.
[[nodiscard]] std::vector<Table> tables_of_measurements(const calibrate::Measurements& measured);

}  // namespace tutti::cli
