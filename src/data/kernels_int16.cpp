// SPDX-License-Identifier: Apache-2.0
// Kernels of the 16-bit integers.
#define TUTTI_KERNEL_SETS(SET) \
  SET(i16, integer_set<std::uint16_t, std::int16_t>()) SET(u16, integer_set<std::uint16_t, std::uint16_t>())
#include "data/kernels.inc"
