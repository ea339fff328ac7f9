// SPDX-License-Identifier: Apache-2.0
// An operation with copies of the whole buffer within each rank before or after it: into memory that others see, and
// out of it. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "simulate/simulate.hpp"

namespace tutti::simulate {

// The answer for the schedule; its time and account have the copies as well, each an operation of its own.
[[nodiscard]] Result<Answer> simulate_with_copies(const Schedule& schedule, const fabric::Fabric& fabric,
                                                  const Options& options, std::uint32_t copies);

}  // namespace tutti::simulate
