// SPDX-License-Identifier: Apache-2.0
// The bench `communicators`: every algorithm of every peer that is here, side by side over sizes, and which is best.
// Main thread only.
#pragma once

#include <span>
#include <string_view>

#include "cli/bench/compare.hpp"

namespace tutti::cli {

inline constexpr std::string_view kCommunicators = "communicators";

// The sizes: rows of 8192 elements of 2 bytes. Quick: fewer.
[[nodiscard]] std::span<const int> rows_of_communicators(bool is_quick);

// What is measured, with what the options do not say as in the published tables.
[[nodiscard]] SweepOptions sweep_of_communicators(SweepOptions options);

// What the options do not say is as in the published tables: the all-reduce of 32 to 4096 rows of 8192 elements, of
// bf16 where the peers have that type.
[[nodiscard]] Exit run_communicators(CompareOptions options, const BenchWorld& world, const Context& context);

}  // namespace tutti::cli
