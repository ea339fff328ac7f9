// SPDX-License-Identifier: Apache-2.0
// One-shot and two-shot written out, as kernels. Each .cu that includes this has one of the two, for all its types.
#pragma once

#include "device/kernels/kernels.hpp"
#include "device/kernels/platform.cuh"
#include "device/walk/direct.hpp"

namespace tutti::device {

enum class Shots : std::uint8_t { one, two };

template <class Element, unsigned kRanks, Shots kShots>
__global__ void __launch_bounds__(kThreads, 1) direct(const __grid_constant__ WalkCalls calls) {
  __shared__ std::byte* ends[2 * kRanks];
  BlockPlatform platform(ends, calls.ranks[blockIdx.y].same_device);
  DirectAllReduce<Element, kRanks, BlockPlatform> all_reduce(platform, calls.ranks[blockIdx.y]);
  if constexpr (kShots == Shots::one) {
    all_reduce.one_shot();
  } else {
    all_reduce.two_shot();
  }
}

template <class Element, Shots kShots>
Kernel direct_of(std::uint32_t num_ranks) {
  switch (num_ranks) {
    case 2: return reinterpret_cast<Kernel>(&direct<Element, 2, kShots>);
    case 4: return reinterpret_cast<Kernel>(&direct<Element, 4, kShots>);
    case 8: return reinterpret_cast<Kernel>(&direct<Element, 8, kShots>);
    default: return nullptr;
  }
}

}  // namespace tutti::device
