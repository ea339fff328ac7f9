// Whose processor this is, where that decides what is fastest: sizes in the first cache, and from where on another way
// of moving the same bytes pays.
#pragma once

#include <cstdint>

namespace tutti {

enum class Processor : std::uint8_t { other, amd };

inline Processor this_processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_is("amd")) return Processor::amd;
#endif
  return Processor::other;
}

}  // namespace tutti
