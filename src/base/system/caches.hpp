// SPDX-License-Identifier: Apache-2.0
// How large this machine's caches are, as sysfs has it: sysconf tells the sum where there are several, and on a virtual
// machine that of its host. Linux counts both first-level caches, so the second level has index 2.
#pragma once

#include <cstdint>
#include <optional>

namespace tutti {

// By sysfs's index: 0 is the first cache for data, 2 the second, 3 the third.
inline constexpr int kFirstCache = 0;
inline constexpr int kSecondCache = 2;
inline constexpr int kThirdCache = 3;

// Bytes; nothing where there is none, or nobody knows.
[[nodiscard]] std::optional<std::uint64_t> size_of_cache(int index);

}  // namespace tutti
