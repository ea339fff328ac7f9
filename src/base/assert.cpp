// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace tutti {

void assertion_failed(const char* condition, const char* words, const char* file, int line) {
  std::fprintf(stderr, "tutti: bug: %s (%s) at %s:%d\n", words, condition, file, line);
  std::abort();
}

}  // namespace tutti
