// SPDX-License-Identifier: Apache-2.0
// Decision tables as files: docs/formats/table.md. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "table/decision_table.hpp"

namespace tutti {

inline constexpr std::uint64_t kMostTableBytes = std::uint64_t{4} << 20U;

// Checked as far as that goes without a machine: names, order and end of ranges, algorithms that cannot do their
// section's case. An error names file, line and key; `place` is what messages call the file.
[[nodiscard]] Result<DecisionTable> read_table(std::string_view text, std::string_view place);

// What read_table() reads back to the same table.
[[nodiscard]] std::string write_table(const DecisionTable& table);

}  // namespace tutti
