// SPDX-License-Identifier: Apache-2.0
// Copying past the caches.
// clang-format off: the instruction sets are named before Highway looks at them.
#include "data/kernel_set.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/kernels_copy.cpp"
#include <hwy/foreach_target.h>

// Behind foreach_target.h, which includes this file again for each instruction set.
#include <hwy/cache_control.h>

#include "data/vector_element_inl.hpp"
// clang-format on

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

void stream_all(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  constexpr std::size_t kVector = hn::MaxLanes(d);
  // Whole cache lines, so that the write-combining buffers never leave with a part of one.
  constexpr std::size_t kLine = std::max<std::size_t>(64, kVector);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % kLine;
  const std::size_t head = std::min((kLine - past) % kLine, bytes);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; bytes - done >= kLine; done += kLine) {
    for (std::size_t i = 0; i < kLine; i += kVector) stream_lanes(d, load_lanes(d, from + done + i), to + done + i);
  }
  std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti {

HWY_EXPORT(stream_all);

void stream_bytes(void* destination, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  HWY_DYNAMIC_DISPATCH(stream_all)
  (static_cast<std::uint8_t*>(destination), static_cast<const std::uint8_t*>(source), bytes);
}

void fence_streams() { hwy::FlushStream(); }

}  // namespace tutti
#endif  // HWY_ONCE
