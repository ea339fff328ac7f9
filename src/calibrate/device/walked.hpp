// SPDX-License-Identifier: Apache-2.0
// What the generic walker is measured with: an all-reduce in which all ranks read all inputs, and signals behind it for
// which all wait. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"

namespace tutti::calibrate {

[[nodiscard]] Schedule exchange_and_signals(std::uint32_t ranks, std::uint32_t signals);

}  // namespace tutti::calibrate
