// SPDX-License-Identifier: Apache-2.0
#include "device/kernels/walk_kernel.cuh"

namespace tutti::device {

Kernel walk_kernel_of_floats(Type type) {
  switch (type) {
    case Type::f32: return walk_of<PlainElement<float>>();
    case Type::f64: return walk_of<PlainElement<double>>();
    default: return nullptr;
  }
}

Kernel walk_kernel(Type type) {
  for (const auto of : {walk_kernel_of_floats, walk_kernel_of_small_floats, walk_kernel_of_integers})
    if (const Kernel kernel = of(type)) return kernel;
  return nullptr;
}

}  // namespace tutti::device
