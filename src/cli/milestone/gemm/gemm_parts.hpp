// SPDX-License-Identifier: Apache-2.0
// The parts of milestone-gemm, a source each; gemm_parts() has them in their order. Values; thread-safe.
#pragma once

#include <vector>

#include "cli/milestone/milestone.hpp"

namespace tutti::cli {

// On a processing element of the accelerator, in virtual time.
[[nodiscard]] Part products_part();
// A layer of a network on this machine: products and all-reduces.
[[nodiscard]] Part layer_part();

[[nodiscard]] inline std::vector<Part> gemm_parts() { return {products_part(), layer_part()}; }

}  // namespace tutti::cli
