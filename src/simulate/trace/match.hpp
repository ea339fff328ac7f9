// SPDX-License-Identifier: Apache-2.0
// Which message each receive of a trace takes. A message is known by its two ranks and its tag; those of one rank to
// another with one tag are a connection, on which the first receive takes the first message.
//
// The trace is carried out without any times, operations in the order in which they can begin, and at once in that of
// the file. So the order of a connection never makes anything wait for itself. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "simulate/trace/trace.hpp"

namespace tutti::simulate {

inline constexpr std::uint32_t kNoTraceOperation = UINT32_MAX;

// By rank, by operation: the operation of the same rank before it on its connection, that sends as well, or receives.
using Predecessors = std::vector<std::vector<std::uint32_t>>;

// Receives get the tag and the size of what they take. An error names the operations that wait for each other, or those
// whose other end is missing.
[[nodiscard]] Result<Predecessors> match(Trace& trace);

}  // namespace tutti::simulate
