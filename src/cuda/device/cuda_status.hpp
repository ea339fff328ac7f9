// SPDX-License-Identifier: Apache-2.0
// What CUDA answers, as a Status.
#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

#include "base/status.hpp"

namespace tutti::cuda {

// "cannot WHAT: CUDA's words".
[[nodiscard]] Status cuda_status(cudaError_t error, std::string_view what);

}  // namespace tutti::cuda
