// Kernels of the 16-bit integers.
// clang-format off: the instruction sets are named before Highway looks at them.
#include "data/kernel_set.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/kernels_int16.cpp"
#include <hwy/foreach_target.h>

// Behind foreach_target.h, which includes this file again for each instruction set.
#include "data/vector_reduce_inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

const KernelSet& i16_set() {
  static constexpr KernelSet kSet = integer_set<std::uint16_t, std::int16_t>();
  return kSet;
}

const KernelSet& u16_set() {
  static constexpr KernelSet kSet = integer_set<std::uint16_t, std::uint16_t>();
  return kSet;
}

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti {

HWY_EXPORT(i16_set);
HWY_EXPORT(u16_set);

const KernelSet& i16_kernels() { return HWY_DYNAMIC_DISPATCH(i16_set)(); }

const KernelSet& u16_kernels() { return HWY_DYNAMIC_DISPATCH(u16_set)(); }

}  // namespace tutti
#endif  // HWY_ONCE
