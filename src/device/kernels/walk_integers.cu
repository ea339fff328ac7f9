// SPDX-License-Identifier: Apache-2.0
#include "device/kernels/walk_kernel.cuh"

namespace tutti::device {

Kernel walk_kernel_of_integers(Type type) {
  switch (type) {
    case Type::i8: return walk_of<PlainElement<std::int8_t>>();
    case Type::u8: return walk_of<PlainElement<std::uint8_t>>();
    case Type::i16: return walk_of<PlainElement<std::int16_t>>();
    case Type::u16: return walk_of<PlainElement<std::uint16_t>>();
    case Type::i32: return walk_of<PlainElement<std::int32_t>>();
    case Type::u32: return walk_of<PlainElement<std::uint32_t>>();
    case Type::i64: return walk_of<PlainElement<std::int64_t>>();
    case Type::u64: return walk_of<PlainElement<std::uint64_t>>();
    default: return nullptr;
  }
}

}  // namespace tutti::device
