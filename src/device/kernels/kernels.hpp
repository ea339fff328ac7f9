// SPDX-License-Identifier: Apache-2.0
// The kernels, for cudaLaunchKernel. A launch is a grid of channels by ranks, of kThreads threads a block.
#pragma once

#include <cstdint>

#include "data/type.hpp"
#include "device/walk/words.hpp"

namespace tutti::device {

inline constexpr std::uint32_t kThreads = 512;

// What a launch carries: a rank by itself, or several that share a device.
inline constexpr std::uint32_t kMostCalls = 8;
struct WalkCalls {
  WalkCall ranks[kMostCalls];  // NOLINT(modernize-avoid-c-arrays): a parameter of kernels
};

// Kernels of collectives have one parameter, WalkCalls. The others say theirs below.
using Kernel = const void*;

// The generic walker.
[[nodiscard]] Kernel walk_kernel(Type type);
// One-shot, or two-shot, written out: of sums, of 2, 4 and 8 ranks, and of floats but f64. Null for the rest.
[[nodiscard]] Kernel one_shot_kernel(Type type, std::uint32_t num_ranks);
[[nodiscard]] Kernel two_shot_kernel(Type type, std::uint32_t num_ranks);
// The flags of a one-shot, and nothing else: a post and the end of a round, both of which all ranks wait for.
[[nodiscard]] Kernel flags_kernel();

// Of benches: copies bytes, a multiple of 16. Parameters: destination, source, bytes.
[[nodiscard]] Kernel copy_kernel();
// Of tests. Parameters: destination, elements of one period and their number, bytes of an element, elements, where in
// the period the first is.
[[nodiscard]] Kernel fill_kernel();
// As fill_kernel, with the elements to check in place of the destination. Last, a 64-bit count of wrong bytes.
[[nodiscard]] Kernel check_kernel();
// Counts the f32 values that narrow differently from small_float.hpp: a count each for f16, bf16, f8e4m3, f8e5m2.
[[nodiscard]] Kernel narrow_kernel();

}  // namespace tutti::device
