// SPDX-License-Identifier: Apache-2.0
// What a worker has said of a case, as a part of its row. A worker may say anything, so everything is checked. Pure.
#pragma once

#include "base/status.hpp"
#include "bench/process/connection.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

// The answer to `end`: sizes, counters, what ran, evidence. A number that is none comes as null: of a counter NaN, of a
// size nothing. An error names what is malformed.
[[nodiscard]] Status take_said(const Json& said, Row& row);

}  // namespace tutti::harness
