// SPDX-License-Identifier: Apache-2.0
#include "device/kernels/walk_kernel.cuh"

namespace tutti::device {

Kernel walk_kernel_of_small_floats(Type type) {
  switch (type) {
    case Type::f16: return walk_of<F16Element>();
    case Type::bf16: return walk_of<Bf16Element>();
    case Type::f8e4m3: return walk_of<F8e4m3Element>();
    case Type::f8e5m2: return walk_of<F8e5m2Element>();
    default: return nullptr;
  }
}

}  // namespace tutti::device
