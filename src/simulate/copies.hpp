// SPDX-License-Identifier: Apache-2.0
// An operation with copies within each rank: of the whole buffer before or after it, into memory that others see and
// out of it, and of the rank's part, where a kernel folds into a buffer that others read. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "simulate/simulate.hpp"

namespace tutti::simulate {

struct OwnCopies {
  std::uint32_t whole = 0;  // of the whole buffer, each an operation of its own before or after
  std::uint32_t parts = 0;  // of the rank's part, one of as many as there are ranks, by the operation itself
};

// The answer for the schedule; its time and account have the copies as well.
[[nodiscard]] Result<Answer> simulate_with_copies(const Schedule& schedule, const fabric::Fabric& fabric,
                                                  const Options& options, const OwnCopies& copies);

}  // namespace tutti::simulate
