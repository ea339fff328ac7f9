// SPDX-License-Identifier: Apache-2.0
#include "device/kernels/direct_kernel.cuh"

namespace tutti::device {

Kernel one_shot_kernel(Type type, std::uint32_t num_ranks) {
  switch (type) {
    case Type::f32: return direct_of<PlainElement<float>, Shots::one>(num_ranks);
    case Type::f16: return direct_of<F16Element, Shots::one>(num_ranks);
    case Type::bf16: return direct_of<Bf16Element, Shots::one>(num_ranks);
    case Type::f8e4m3: return direct_of<F8e4m3Element, Shots::one>(num_ranks);
    case Type::f8e5m2: return direct_of<F8e5m2Element, Shots::one>(num_ranks);
    default: return nullptr;
  }
}

}  // namespace tutti::device
