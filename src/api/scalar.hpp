// SPDX-License-Identifier: Apache-2.0
// The factor that a program passes for a pre-multiplied sum. Pure.
#pragma once

#include <cstdint>
#include <cstring>

#include "data/kernel.hpp"
#include "data/small_float.hpp"

namespace tutti::api {

// The scalar of a pre-multiplied sum, as both of the forms that an Operator keeps it in.
inline void read_scalar(const void* scalar, Type type, Operator& custom) {
  const auto as = [scalar](auto value) {
    std::memcpy(&value, scalar, sizeof value);
    return value;
  };
  // By way of a signed number, so that a sign is seen to be extended.
  const auto integer = [&](auto value) {
    custom.integer_scalar = static_cast<std::uint64_t>(static_cast<std::int64_t>(as(value)));
  };
  const auto widened = [&](float value) { custom.scalar = static_cast<double>(value); };
  switch (type) {
    case Type::i8: integer(std::int8_t{}); break;
    case Type::u8: integer(std::uint8_t{}); break;
    case Type::i16: integer(std::int16_t{}); break;
    case Type::u16: integer(std::uint16_t{}); break;
    case Type::i32: integer(std::int32_t{}); break;
    case Type::u32: integer(std::uint32_t{}); break;
    case Type::i64: integer(std::int64_t{}); break;
    case Type::u64: integer(std::uint64_t{}); break;
    case Type::f32: widened(as(float{})); break;
    case Type::f64: custom.scalar = as(double{}); break;
    case Type::f16: widened(f16_to_f32(as(std::uint16_t{}))); break;
    case Type::bf16: widened(bf16_to_f32(as(std::uint16_t{}))); break;
    case Type::f8e4m3: widened(f8e4m3_to_f32(as(std::uint8_t{}))); break;
    case Type::f8e5m2: widened(f8e5m2_to_f32(as(std::uint8_t{}))); break;
  }
}

}  // namespace tutti::api
