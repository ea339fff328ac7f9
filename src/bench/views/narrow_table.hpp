// SPDX-License-Identifier: Apache-2.0
// A table for people in lines that fit, where its columns say what may stand elsewhere. Pure; thread-safe.
#pragma once

#include <string>

#include "bench/views/table.hpp"
#include "bench/views/text_grid.hpp"

namespace tutti {

// to_aligned() where that fits. Else what is the same in all rows stands once above the table, notes stand below it
// under numbers, and columns that yield are left out until the rest fits; a line says which. On a terminal, lines that
// are still too long are cut.
[[nodiscard]] std::string to_narrow(const Table& table, const TextStyle& style);

}  // namespace tutti
