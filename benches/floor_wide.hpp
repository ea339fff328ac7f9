// SPDX-License-Identifier: Apache-2.0
// The few 512-bit intrinsics of the floor programs, as pairs of 256-bit ones, for processors without the former.
#pragma once

#include <immintrin.h>

struct FloorWide {
  __m256 low, high;
};

inline FloorWide floor_wide_load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
inline FloorWide floor_wide_add(FloorWide a, FloorWide b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
inline void floor_wide_store(float* to, FloorWide value) {
  _mm256_storeu_ps(to, value.low);
  _mm256_storeu_ps(to + 8, value.high);
}
inline void floor_wide_stream(float* to, FloorWide value) {
  _mm256_stream_ps(to, value.low);
  _mm256_stream_ps(to + 8, value.high);
}

#define _mm512_loadu_ps floor_wide_load
#define _mm512_add_ps floor_wide_add
#define _mm512_storeu_ps floor_wide_store
#define _mm512_stream_ps floor_wide_stream
