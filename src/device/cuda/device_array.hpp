// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cuda_runtime_api.h>

#include "base/status.hpp"

namespace tutti::device {

// Device memory. The destructor frees it, when nothing on the device may use it any more. Movable.
class DeviceArray {
 public:
  DeviceArray() = default;
  // Zeroed in the order of `stream`.
  [[nodiscard]] static Result<DeviceArray> make(std::uint64_t bytes, const char* what, cudaStream_t stream);
  ~DeviceArray();
  DeviceArray(DeviceArray&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  template <class T = std::byte>
  [[nodiscard]] T* data() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

}  // namespace tutti::device
