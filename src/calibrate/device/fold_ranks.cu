// SPDX-License-Identifier: Apache-2.0
#include "calibrate/device/fold_ranks.hpp"
#include "device/walk/direct.hpp"

namespace tutti::calibrate {

namespace {

using device::FoldCall;
using device::kThreads;

template <class Element, unsigned kSources>
__global__ void __launch_bounds__(kThreads, 1) fold_ranks(const __grid_constant__ FoldRanks ranks) {
  // 16 bytes for each thread, as shape_of() has it.
  constexpr unsigned kTile = kThreads * 16 / sizeof(typename Element::Stored);
  __shared__ const std::byte* sources[kSources];
  __shared__ std::byte* destination;
  if (threadIdx.x < kSources) sources[threadIdx.x] = ranks.sources[blockIdx.y][threadIdx.x];
  if (threadIdx.x == 0) destination = ranks.destinations[blockIdx.y];
  __syncthreads();
  const FoldCall call = {.sources = sources,
                         .destinations = &destination,
                         .num_sources = kSources,
                         .num_destinations = 1,
                         .raw_source = kSources,
                         .completes = true,
                         .count = ranks.count,
                         .tile_shift = 31U - __clz(kTile),
                         .first = 0,
                         .channel = blockIdx.x,
                         .num_channels = gridDim.x,
                         .thread = threadIdx.x,
                         .num_threads = blockDim.x};
  const Operator sum{};
  device::fold<Element, device::RanksPass<Element, kSources>>(call, sum);
}

template <class Element, unsigned kSources>
device::Kernel kernel_of() {
  return reinterpret_cast<device::Kernel>(&fold_ranks<Element, kSources>);
}

device::Kernel of_floats(std::uint32_t num_sources) {
  using Element = device::PlainElement<float>;
  switch (num_sources) {
    case 1: return kernel_of<Element, 1>();
    case 2: return kernel_of<Element, 2>();
    case 3: return kernel_of<Element, 3>();
    case 4: return kernel_of<Element, 4>();
    case 5: return kernel_of<Element, 5>();
    case 6: return kernel_of<Element, 6>();
    case 7: return kernel_of<Element, 7>();
    case 8: return kernel_of<Element, 8>();
    default: return nullptr;
  }
}

device::Kernel of_bf16(std::uint32_t num_sources) {
  switch (num_sources) {
    case 2: return kernel_of<device::Bf16Element, 2>();
    case 4: return kernel_of<device::Bf16Element, 4>();
    case 8: return kernel_of<device::Bf16Element, 8>();
    default: return nullptr;
  }
}

}  // namespace

device::Kernel fold_ranks_kernel(Type type, std::uint32_t num_sources) {
  if (type == Type::f32) return of_floats(num_sources);
  return type == Type::bf16 ? of_bf16(num_sources) : nullptr;
}

}  // namespace tutti::calibrate
