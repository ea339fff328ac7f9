// SPDX-License-Identifier: Apache-2.0
// The seed of faults in tests: FAULTS_SEED, or another one each time. Who fails prints it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

namespace tutti::test {

inline std::uint64_t seed_of_faults() {
  const char* text = std::getenv("FAULTS_SEED");
  return text == nullptr ? std::random_device()() : std::strtoull(text, nullptr, 10);
}

}  // namespace tutti::test
