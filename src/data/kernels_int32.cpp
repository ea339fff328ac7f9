// SPDX-License-Identifier: Apache-2.0
// Kernels of the 32-bit integers.
#define TUTTI_KERNEL_SETS(SET) \
  SET(i32, integer_set<std::uint32_t, std::int32_t>()) SET(u32, integer_set<std::uint32_t, std::uint32_t>())
#include "data/kernels.inc"
