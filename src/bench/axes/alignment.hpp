// SPDX-License-Identifier: Apache-2.0
// Knobs of different peers that mean the same, each by its own name, as one column: a variable of one and an axis of
// another. Values and pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

struct Alignment {
  std::string column;
  std::vector<std::pair<std::string, std::string>> knobs;  // peer, and its variable or axis
};

// "cus=nccl:NCCL_MAX_CTAS,mine:comm_sms".
[[nodiscard]] Result<Alignment> parse_alignment(std::string_view text);

// Whether one of the knobs is an axis of these rows and no variable: cases that are put together by an axis of one peer
// were not measured together with those of the others.
[[nodiscard]] bool has_axis(const std::vector<Alignment>& alignments, const std::vector<Row>& rows);

// The rows with the column as an axis in the place of the knobs. A knob that none of its peer's rows has is an error.
[[nodiscard]] Result<std::vector<Row>> aligned(std::vector<Row> rows, const std::vector<Alignment>& alignments);

}  // namespace tutti::harness
