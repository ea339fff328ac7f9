// SPDX-License-Identifier: Apache-2.0
// Kernels of the 8-bit integers.
#define TUTTI_KERNEL_SETS(SET) \
  SET(i8, integer_set<std::uint8_t, std::int8_t>()) SET(u8, integer_set<std::uint8_t, std::uint8_t>())
#include "data/kernels.inc"
