// SPDX-License-Identifier: Apache-2.0
// What a loop that looks at memory again and again does between looks. No state.
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace tutti {

// Leaves the core's other hardware thread its share, for some tens of cycles.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace tutti
