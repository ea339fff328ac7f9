// SPDX-License-Identifier: Apache-2.0
// The data of a collective without its flags, as a kernel: each rank folds sources into a destination, with the loops
// of the kernels that are written out. For cudaLaunchKernel: a grid of channels by ranks, of kThreads threads a block,
// and one parameter, FoldRanks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/kernels/kernels.hpp"

namespace tutti::calibrate {

struct FoldRanks {
  // NOLINTBEGIN(modernize-avoid-c-arrays): a parameter of kernels
  const std::byte* sources[device::kMostCalls][device::kMostCalls];  // by rank
  std::byte* destinations[device::kMostCalls];
  // NOLINTEND(modernize-avoid-c-arrays)
  std::uint64_t count;  // elements of each
};

// Sums of 1 to 8 sources of f32, or of 2, 4 and 8 of bf16; null for the rest. One source is copied.
[[nodiscard]] device::Kernel fold_ranks_kernel(Type type, std::uint32_t num_sources);

}  // namespace tutti::calibrate
