// SPDX-License-Identifier: Apache-2.0
// The generic walker as a kernel; each .cu that includes this has those of some types.
#pragma once

#include "device/kernels/kernels.hpp"
#include "device/kernels/platform.cuh"

namespace tutti::device {

template <class Element>
__global__ void __launch_bounds__(kThreads, 1) walk(const __grid_constant__ WalkCalls calls) {
  __shared__ std::byte* ends[kMostEnds];
  BlockPlatform platform(ends, calls.ranks[blockIdx.y].same_device);
  Walker<Element, BlockPlatform>(platform, calls.ranks[blockIdx.y]).walk();
}

template <class Element>
Kernel walk_of() {
  return reinterpret_cast<Kernel>(&walk<Element>);
}

// Null for types of others.
Kernel walk_kernel_of_integers(Type type);
Kernel walk_kernel_of_floats(Type type);
Kernel walk_kernel_of_small_floats(Type type);

}  // namespace tutti::device
