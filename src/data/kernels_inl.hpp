// The kernels of some types, compiled for each instruction set. A source says which: TUTTI_KERNEL_SETS(SET) is a list
// of SET(NAME, the NAME's KernelSet), each of which becomes NAME_kernels() of kernel_set.hpp; then it includes this,
// and nothing else. Without a guard, since Highway includes this again for each instruction set.
// clang-format off: the instruction sets are named before Highway looks at them.
#include "data/kernel_set.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/kernels_inl.hpp"
#include <hwy/foreach_target.h>

// Behind foreach_target.h, which includes this file again for each instruction set.
#include "data/vector_reduce_inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

#define TUTTI_SET(name, ...)                       \
  const KernelSet& name##_set() {                  \
    static constexpr KernelSet kSet = __VA_ARGS__; \
    return kSet;                                   \
  }
TUTTI_KERNEL_SETS(TUTTI_SET)
#undef TUTTI_SET

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti {

#define TUTTI_DISPATCH(name, ...) \
  HWY_EXPORT(name##_set);         \
  const KernelSet& name##_kernels() { return HWY_DYNAMIC_DISPATCH(name##_set)(); }
TUTTI_KERNEL_SETS(TUTTI_DISPATCH)
#undef TUTTI_DISPATCH

}  // namespace tutti
#endif  // HWY_ONCE
