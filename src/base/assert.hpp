// SPDX-License-Identifier: Apache-2.0
// TUTTI_ASSERT: a condition whose failure is a bug in Tutti. It stays on in every build, so it stands only where it
// costs nothing; TUTTI_ASSERT_SLOW is for checks on hot paths and is compiled in where NDEBUG is not defined.
#pragma once

namespace tutti {

// Prints the words and where they stand to standard error, and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* words, const char* file, int line);

}  // namespace tutti

#define TUTTI_ASSERT(condition, words) \
  ((condition) ? static_cast<void>(0) : ::tutti::assertion_failed(#condition, words, __FILE__, __LINE__))

#ifdef NDEBUG
#define TUTTI_ASSERT_SLOW(condition, words) static_cast<void>(0)
#else
#define TUTTI_ASSERT_SLOW(condition, words) TUTTI_ASSERT(condition, words)
#endif
