// SPDX-License-Identifier: Apache-2.0
// Kernels of the 64-bit integers.
#define TUTTI_KERNEL_SETS(SET) \
  SET(i64, integer_set<std::uint64_t, std::int64_t>()) SET(u64, integer_set<std::uint64_t, std::uint64_t>())
#include "data/kernels.inc"
