// Kernels of the 32-bit integers.
// clang-format off: the instruction sets are named before Highway looks at them.
#include "data/kernel_set.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/kernels_int32.cpp"
#include <hwy/foreach_target.h>

// Behind foreach_target.h, which includes this file again for each instruction set.
#include "data/vector_reduce_inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

const KernelSet& i32_set() {
  static constexpr KernelSet kSet = integer_set<std::uint32_t, std::int32_t>();
  return kSet;
}

const KernelSet& u32_set() {
  static constexpr KernelSet kSet = integer_set<std::uint32_t, std::uint32_t>();
  return kSet;
}

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti {

HWY_EXPORT(i32_set);
HWY_EXPORT(u32_set);

const KernelSet& i32_kernels() { return HWY_DYNAMIC_DISPATCH(i32_set)(); }

const KernelSet& u32_kernels() { return HWY_DYNAMIC_DISPATCH(u32_set)(); }

}  // namespace tutti
#endif  // HWY_ONCE
