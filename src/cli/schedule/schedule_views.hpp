// A schedule as JSON, and as a picture of space and time. Pure functions; thread-safe.
#pragma once

#include <optional>
#include <string>

#include "schedule/programs.hpp"

namespace tutti::cli {

// The header, and the steps of each rank and lane: of all ranks, or of one.
[[nodiscard]] std::string schedule_to_json(const Programs& programs, std::optional<std::uint32_t> only);

// An SVG: a row a rank, a band a lane, time to the right, a box a step, an arrow for what goes from rank to rank.
[[nodiscard]] std::string schedule_to_svg(const Programs& programs);

}  // namespace tutti::cli
