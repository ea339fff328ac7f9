// SPDX-License-Identifier: Apache-2.0
#include "base/system/processor.hpp"

#if defined(__x86_64__)
#include <array>
#include <cstring>

#include <cpuid.h>
#endif

namespace tutti {

std::string processor_vendor() {
#if defined(__x86_64__)
  unsigned int greatest = 0;
  std::array<unsigned int, 3> words = {};
  if (__get_cpuid(0, &greatest, &words[0], &words[2], &words[1]) == 0) return {};
  std::array<char, sizeof words> letters = {};
  std::memcpy(letters.data(), words.data(), letters.size());
  return {letters.data(), letters.size()};
#else
  return {};
#endif
}

}  // namespace tutti
