// Ends of a step, for the steps that Builder has no name for: what comes by message may be folded and go on by message
// without ever being stored. Pure functions.
#pragma once

#include <cstdint>

#include "schedule/step.hpp"

namespace tutti {

[[nodiscard]] inline Endpoint local_end(Slice slice) { return {Place::local, 0, 0, slice}; }
// From `rank` among the sources, to it among the destinations; the slice says which pieces, and of which size.
[[nodiscard]] inline Endpoint message_end(std::uint32_t rank, Slice slice) { return {Place::message, rank, 0, slice}; }
[[nodiscard]] inline Endpoint remote_end(std::uint32_t rank, std::uint32_t post, Slice slice) {
  return {Place::remote, rank, post, slice};
}

}  // namespace tutti
