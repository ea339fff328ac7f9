// Kernels of f16 and bf16.
// clang-format off: the instruction sets are named before Highway looks at them.
#include "data/kernel_set.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/kernels_half.cpp"
#include <hwy/foreach_target.h>

// Behind foreach_target.h, which includes this file again for each instruction set.
#include "data/vector_reduce_inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

const KernelSet& f16_set() {
  static constexpr KernelSet kSet = float_set<Half>();
  return kSet;
}

const KernelSet& bf16_set() {
  static constexpr KernelSet kSet = float_set<Brain>();
  return kSet;
}

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti {

HWY_EXPORT(f16_set);
HWY_EXPORT(bf16_set);

const KernelSet& f16_kernels() { return HWY_DYNAMIC_DISPATCH(f16_set)(); }

const KernelSet& bf16_kernels() { return HWY_DYNAMIC_DISPATCH(bf16_set)(); }

}  // namespace tutti
#endif  // HWY_ONCE
