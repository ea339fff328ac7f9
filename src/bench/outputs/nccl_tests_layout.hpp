// SPDX-License-Identifier: Apache-2.0
// Rows in the layout of nccl-tests, for scripts that read its tables: size, count, type, redop, root, then time, algbw,
// busbw and #wrong, out of place and in place. docs/formats/outputs.md has what stands where. Pure; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "bench/results/result.hpp"

namespace tutti::harness {

struct NcclTestsLayout {
  std::string text;
  // What the layout has no place for, with the reason: "3 rows have no time: …"; a line each.
  std::vector<std::string> left_out;
};

// A table for each bench, peer, number of ranks, settings and values of axes that have no column.
[[nodiscard]] NcclTestsLayout in_nccl_tests_layout(const std::vector<Row>& rows);

}  // namespace tutti::harness
