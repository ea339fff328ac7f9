// SPDX-License-Identifier: Apache-2.0
// Inline payloads: data that travels in the line of its flag, instead of in a slot that the flag announces.
//
// The writer owns the line, and may store only when every reader is done with what it held (Executor). No state; one
// writer, any number of readers.
#pragma once

#include <cstdint>
#include <cstring>

#include "transport/shm/region.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

// What the thread sanitizer is to follow must not hide in assembly.
#if defined(__SANITIZE_THREAD__)
#define TUTTI_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TUTTI_THREAD_SANITIZER
#endif
#endif

namespace tutti::shm {

// At most kInlineBytes, in a few moves of fixed size that overlap in the middle.
inline void copy_short(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes >= 16) {
    std::memcpy(to, from, 16);
    if (bytes > 32) std::memcpy(to + 16, from + 16, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + bytes - 8, from + bytes - 8, 8);
  } else if (bytes >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + bytes - 4, from + bytes - 4, 4);
  } else {
    for (std::uint64_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

// Stores the sequence and the first 8 bytes behind it at once. A reader that polls the line can take it away between
// two stores, which costs both sides a transfer; one store of 16 aligned bytes cannot be parted. (That it is atomic is
// promised by the makers of processors with AVX; without it the stores go one by one, in order.)
inline void store_flag(FlagLine& line, std::uint64_t sequence, std::uint64_t first, bool has_wide_store) {
#if defined(__x86_64__) && !defined(TUTTI_THREAD_SANITIZER)
  if (has_wide_store) {
    const __m128i both = _mm_set_epi64x(static_cast<long long>(first), static_cast<long long>(sequence));
    // Behind the compiler's back: to it this is a store of two things, one of them atomic. On x86 stores are seen in
    // their order, so this is also a release of all before it.
    asm volatile("movdqa %1, %0" : "=m"(*reinterpret_cast<char(*)[16]>(&line)) : "x"(both) : "memory");
    return;
  }
#else
  static_cast<void>(has_wide_store);
#endif
  std::memcpy(line.payload, &first, sizeof first);
  line.sequence.store(sequence, std::memory_order_release);
}

[[nodiscard]] inline bool has_wide_store() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx");
#else
  return false;
#endif
}

// Asks for the line early, as it will be written: the readers have their copies of it, and taking those back is most
// of what a store to it costs. Right at any time; worth it where the line is written next.
inline void expect_store(void* line) {
#if defined(__x86_64__)
  // The compiler would only use it where it is told that every processor has it; those without take it for nothing.
  asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));
#else
  __builtin_prefetch(line, 1, 3);
#endif
}

// The same for the first bytes of a slot that is written next, `most` of them: no more than what stays in the core's
// caches until then.
inline void expect_stores(std::byte* slot, std::uint64_t bytes, std::uint64_t most) {
  const std::uint64_t end = bytes < most ? bytes : most;
  for (std::uint64_t offset = 0; offset < end; offset += kLine) expect_store(slot + offset);
}

// Writes at most kInlineBytes as post `sequence`.
inline void store_inline(FlagLine& flag, std::uint64_t sequence, const void* data, std::uint64_t bytes, bool has_wide) {
  const auto* from = static_cast<const std::byte*>(data);
  std::uint64_t first = 0;
  if (bytes >= sizeof first) [[likely]] {
    std::memcpy(&first, from, sizeof first);
    if (bytes > sizeof first) copy_short(flag.payload + sizeof first, from + sizeof first, bytes - sizeof first);
  } else {
    copy_short(reinterpret_cast<std::byte*>(&first), from, bytes);
  }
  store_flag(flag, sequence, first, has_wide);
}

}  // namespace tutti::shm
