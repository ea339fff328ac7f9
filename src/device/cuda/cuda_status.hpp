// SPDX-License-Identifier: Apache-2.0
// What CUDA answers, as a Status.
#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

#include "base/status.hpp"

namespace tutti::device {

// "cannot WHAT: CUDA's words".
[[nodiscard]] Status cuda_status(cudaError_t error, std::string_view what);

// Makes `device` the current device of this thread until the end of the scope.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    if (cudaGetDevice(&before_) != cudaSuccess) before_ = -1;
    // Left alone where it is right: a program may have made a context of its own current.
    if (before_ == device)
      before_ = -1;
    else
      status_ = cuda_status(cudaSetDevice(device), "use the device");
  }
  ~OnDevice() {
    if (before_ >= 0) static_cast<void>(cuda_status(cudaSetDevice(before_), "use the device before"));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  [[nodiscard]] const Status& status() const { return status_; }

 private:
  int before_ = -1;
  Status status_;
};

}  // namespace tutti::device
