// SPDX-License-Identifier: Apache-2.0
// Kernels that collectives are measured beside and tested with.
#include "device/kernels/kernels.hpp"
#include "device/kernels/platform.cuh"

namespace tutti::device {

namespace {

__global__ void __launch_bounds__(kThreads, 1) flags(const __grid_constant__ WalkCalls calls) {
  __shared__ std::byte* ends[1];
  BlockPlatform platform(ends, calls.ranks[blockIdx.y].same_device);
  Flags<BlockPlatform> flags(platform, calls.ranks[blockIdx.y]);
  if (flags.is_broken()) return;
  flags.post(0, false);
  const bool have_come = flags.await_posts(0);
  if (have_come) flags.finish();
  if (!have_come || !flags.await_done(flags.rounds() + 1)) {
    flags.give_up();
    return;
  }
  flags.end_round();
  flags.end();
}

__global__ void __launch_bounds__(kThreads, 1) copy(uint4* to, const uint4* from, std::uint64_t bytes) {
  constexpr unsigned kDeep = 4;
  const std::uint64_t chunks = bytes / sizeof(uint4);
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; at + (kDeep - 1) * threads < chunks; at += kDeep * threads) {
    uint4 loaded[kDeep];
#pragma unroll
    for (unsigned i = 0; i < kDeep; ++i) loaded[i] = from[at + i * threads];
#pragma unroll
    for (unsigned i = 0; i < kDeep; ++i) to[at + i * threads] = loaded[i];
  }
  for (; at < chunks; at += threads) to[at] = from[at];
}

template <class Function>
__device__ void for_each_byte(std::uint64_t bytes, const Function& function) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < bytes; at += threads) function(at);
}

__device__ std::uint8_t in_period(const std::uint8_t* period, std::uint32_t length, std::uint32_t element,
                                  std::uint64_t at, std::uint64_t first) {
  return period[(at / element + first) % length * element + at % element];
}

__global__ void fill(std::uint8_t* to, const std::uint8_t* period, std::uint32_t length, std::uint32_t element,
                     std::uint64_t count, std::uint64_t first) {
  for_each_byte(count * element, [=](std::uint64_t at) { to[at] = in_period(period, length, element, at, first); });
}

__global__ void check(const std::uint8_t* of, const std::uint8_t* period, std::uint32_t length, std::uint32_t element,
                      std::uint64_t count, std::uint64_t first, unsigned long long* wrong) {
  unsigned long long here = 0;
  for_each_byte(count * element, [&](std::uint64_t at) {
    if (of[at] != in_period(period, length, element, at, first)) ++here;
  });
  if (here > 0) atomicAdd(wrong, here);
}

// Whether a value narrows as small_float.hpp has it, by itself and among others.
template <class Element, class Narrow>
__device__ bool narrows(float value, float other, const Narrow& narrow) {
  constexpr unsigned kBytes = 2 * sizeof(typename Element::Stored);
  using Row = Lanes<Element, kBytes>;
  const auto of = [](const Row& row, unsigned lane) {
    const Chunk<kBytes> chunk = row.narrowed();
    typename Element::Stored codes[2];
    memcpy(codes, &chunk, kBytes);
    return codes[lane];
  };
  const auto expected = narrow(value);
  return Element::narrow(value) == expected && of(Row{{value, other}}, 0) == expected &&
         of(Row{{other, value}}, 1) == expected;
}

__global__ void narrow_all(unsigned long long* wrong) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t bits = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; bits <= UINT32_MAX; bits += threads) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const float other = std::bit_cast<float>(static_cast<std::uint32_t>(bits * 2654435761U));
    if (!narrows<F16Element>(value, other, [](float each) { return f32_to_f16(each); })) atomicAdd(&wrong[0], 1ULL);
    if (!narrows<Bf16Element>(value, other, [](float each) { return f32_to_bf16(each); })) atomicAdd(&wrong[1], 1ULL);
    if (!narrows<F8e4m3Element>(value, other, [](float each) { return f32_to_f8e4m3(each); }))
      atomicAdd(&wrong[2], 1ULL);
    if (!narrows<F8e5m2Element>(value, other, [](float each) { return f32_to_f8e5m2(each); }))
      atomicAdd(&wrong[3], 1ULL);
  }
}

}  // namespace

Kernel flags_kernel() { return reinterpret_cast<Kernel>(&flags); }
Kernel copy_kernel() { return reinterpret_cast<Kernel>(&copy); }
Kernel fill_kernel() { return reinterpret_cast<Kernel>(&fill); }
Kernel check_kernel() { return reinterpret_cast<Kernel>(&check); }
Kernel narrow_kernel() { return reinterpret_cast<Kernel>(&narrow_all); }

}  // namespace tutti::device
