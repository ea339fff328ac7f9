// SPDX-License-Identifier: Apache-2.0
// Kernels of f16 and bf16.
#define TUTTI_KERNEL_SETS(SET) SET(f16, float_set<Half>()) SET(bf16, float_set<Brain>())
#include "data/kernels.inc"
