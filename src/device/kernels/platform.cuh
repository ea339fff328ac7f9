// SPDX-License-Identifier: Apache-2.0
// The Platform of a thread block (walk/flags.hpp). Flags have system scope, since the other rank may be on another
// device. In a DeviceGroup they have device scope, where fences take less time.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "device/walk/walk.hpp"

namespace tutti::device {

class BlockPlatform {
 public:
  __device__ BlockPlatform(std::byte** ends, bool same_device) : ends_(ends), same_device_(same_device) {}

  static __device__ std::uint32_t thread() { return threadIdx.x; }
  static __device__ std::uint32_t num_threads() { return blockDim.x; }
  static __device__ std::uint32_t channel() { return blockIdx.x; }
  static __device__ std::uint32_t num_channels() { return gridDim.x; }
  static __device__ void sync() { __syncthreads(); }
  static __device__ bool all(bool is_true) { return __syncthreads_and(is_true ? 1 : 0) != 0; }
  static __device__ void relax() {}
  __device__ std::byte** ends() { return ends_; }

  [[nodiscard]] __device__ std::uint64_t load_acquire(const std::uint64_t* word) const {
    std::uint64_t& there = *const_cast<std::uint64_t*>(word);
    if (same_device_) return NearWord(there).load(::cuda::memory_order_acquire);
    return FarWord(there).load(::cuda::memory_order_acquire);
  }
  __device__ void store_release(std::uint64_t* word, std::uint64_t value) const {
    if (same_device_) {
      NearWord(*word).store(value, ::cuda::memory_order_release);
    } else {
      FarWord(*word).store(value, ::cuda::memory_order_release);
    }
  }
  static __device__ std::uint32_t load_host(const std::uint32_t* word) {
    return Word32(*const_cast<std::uint32_t*>(word)).load(::cuda::memory_order_relaxed);
  }
  static __device__ void store_host(std::uint32_t* word, std::uint32_t value) {
    Word32(*word).store(value, ::cuda::memory_order_release);
  }
  static __device__ bool claim(std::uint32_t* word) { return atomicExch_system(word, 1U) == 0; }
  static __device__ std::uint64_t now() {
    std::uint64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  }

 private:
  using NearWord = ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_device>;
  using FarWord = ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_system>;
  using Word32 = ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_system>;

  std::byte** ends_;
  bool same_device_;
};

}  // namespace tutti::device
