// Kernels of f32 and f64.
// clang-format off: the instruction sets are named before Highway looks at them.
#include "data/kernel_set.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/kernels_float.cpp"
#include <hwy/foreach_target.h>

// Behind foreach_target.h, which includes this file again for each instruction set.
#include "data/vector_reduce_inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

const KernelSet& f32_set() {
  static constexpr KernelSet kSet = float_set<Plain<float>>();
  return kSet;
}

const KernelSet& f64_set() {
  static constexpr KernelSet kSet = float_set<Plain<double>>();
  return kSet;
}

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti {

HWY_EXPORT(f32_set);
HWY_EXPORT(f64_set);

const KernelSet& f32_kernels() { return HWY_DYNAMIC_DISPATCH(f32_set)(); }

const KernelSet& f64_kernels() { return HWY_DYNAMIC_DISPATCH(f64_set)(); }

}  // namespace tutti
#endif  // HWY_ONCE
