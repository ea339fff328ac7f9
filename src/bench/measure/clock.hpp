// SPDX-License-Identifier: Apache-2.0
// The clock that all processes of a host share. Thread-safe.
#pragma once

#include <cstdint>
#include <ctime>

namespace tutti::harness {

// Nanoseconds of the monotonic clock: common to all processes of a host, of no meaning on another one.
[[nodiscard]] inline std::int64_t now() {
  std::timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace tutti::harness
