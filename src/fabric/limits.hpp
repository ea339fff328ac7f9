// SPDX-License-Identifier: Apache-2.0
// How large a fabric may be, so that a slip of the pen is an error and not a machine without memory. Constants.
#pragma once

#include <cstdint>

namespace tutti::fabric {

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
// A fuzzer makes thousands in a second.
inline constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 8;
inline constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 9;
inline constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 11;
inline constexpr std::uint64_t kMostPorts = std::uint64_t{1} << 7;
#else
inline constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 21;
inline constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 23;
inline constexpr std::uint64_t kMostPorts = std::uint64_t{1} << 16;  // links that leave one node
#endif
inline constexpr std::uint32_t kMostNested = 4;  // fabrics within one another

}  // namespace tutti::fabric
