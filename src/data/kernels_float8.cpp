// Kernels of the 8-bit floats.
// clang-format off: the instruction sets are named before Highway looks at them.
#include "data/kernel_set.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/kernels_float8.cpp"
#include <hwy/foreach_target.h>

// Behind foreach_target.h, which includes this file again for each instruction set.
#include "data/vector_reduce_inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

const KernelSet& f8e4m3_set() {
  static constexpr KernelSet kSet = float_set<Float8e4m3>();
  return kSet;
}

const KernelSet& f8e5m2_set() {
  static constexpr KernelSet kSet = float_set<Float8e5m2>();
  return kSet;
}

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti {

HWY_EXPORT(f8e4m3_set);
HWY_EXPORT(f8e5m2_set);

const KernelSet& f8e4m3_kernels() { return HWY_DYNAMIC_DISPATCH(f8e4m3_set)(); }

const KernelSet& f8e5m2_kernels() { return HWY_DYNAMIC_DISPATCH(f8e5m2_set)(); }

}  // namespace tutti
#endif  // HWY_ONCE
