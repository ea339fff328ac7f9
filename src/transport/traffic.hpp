// SPDX-License-Identifier: Apache-2.0
// What a connection between two ranks carries: the messages of schedules, or what a program sends to one rank itself.
// They do not wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::transport {

enum class Traffic : std::uint8_t { schedules, program };
inline constexpr std::size_t kNumTraffics = 2;

}  // namespace tutti::transport
