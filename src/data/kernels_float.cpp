// SPDX-License-Identifier: Apache-2.0
// Kernels of f32 and f64.
#define TUTTI_KERNEL_SETS(SET) SET(f32, float_set<Plain<float>>()) SET(f64, float_set<Plain<double>>())
#include "data/kernels.inc"
