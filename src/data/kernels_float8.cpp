// SPDX-License-Identifier: Apache-2.0
// Kernels of the 8-bit floats.
#define TUTTI_KERNEL_SETS(SET) SET(f8e4m3, float_set<Float8e4m3>()) SET(f8e5m2, float_set<Float8e5m2>())
#include "data/kernels.inc"
