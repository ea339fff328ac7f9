// SPDX-License-Identifier: Apache-2.0
// Ends of a step, by their places. The slice of a message says which pieces, and of which size. Pure functions.
#pragma once

#include <cstdint>

#include "schedule/step.hpp"

namespace tutti {

[[nodiscard]] inline Endpoint local_end(const Slice& slice) { return {.place = Place::local, .slice = slice}; }
// From `rank` among the sources, to it among the destinations.
[[nodiscard]] inline Endpoint message_end(std::uint32_t rank, const Slice& slice) {
  return {.place = Place::message, .rank = rank, .slice = slice};
}
// What `rank` permits with its post `post`.
[[nodiscard]] inline Endpoint remote_end(std::uint32_t rank, std::uint32_t post, const Slice& slice) {
  return {.place = Place::remote, .rank = rank, .post = post, .slice = slice};
}
// What every rank permits with its post `post`.
[[nodiscard]] inline Endpoint multicast_end(std::uint32_t post, const Slice& slice) {
  return {.place = Place::multicast, .post = post, .slice = slice};
}

}  // namespace tutti
