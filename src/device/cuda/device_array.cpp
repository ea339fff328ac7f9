// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/device_array.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "device/cuda/cuda_status.hpp"

namespace tutti::device {

Result<DeviceArray> DeviceArray::make(std::uint64_t bytes, const char* what, cudaStream_t stream) {
  const std::string words = fmt::format("have {} bytes of device memory for {}", bytes, what);
  DeviceArray array;
  // In stream order, so that this does not wait for kernels in other streams, which may wait for other ranks.
  TUTTI_TRY(cuda_status(cudaMallocAsync(&array.memory_, std::max<std::uint64_t>(bytes, 1), stream), words));
  TUTTI_TRY(cuda_status(cudaMemsetAsync(array.memory_, 0, bytes, stream), words));
  return array;
}

DeviceArray::~DeviceArray() {
  if (memory_ != nullptr) static_cast<void>(cuda_status(cudaFree(memory_), "free device memory"));
}

}  // namespace tutti::device
