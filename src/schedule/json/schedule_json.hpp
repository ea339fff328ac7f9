// SPDX-License-Identifier: Apache-2.0
// A schedule as JSON. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "schedule/programs.hpp"

namespace tutti {

// The header, and the steps of each rank and lane: of all ranks, or of one.
[[nodiscard]] std::string schedule_to_json(const Programs& programs, std::optional<std::uint32_t> only);

}  // namespace tutti
