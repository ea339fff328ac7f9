// SPDX-License-Identifier: Apache-2.0
// The element of a type, for tests that go through all of them.
#pragma once

#include <cstdint>

#include "data/type.hpp"
#include "device/walk/element.hpp"

namespace tutti::device {

template <class Function>
void with_element(Type type, const Function& function) {
  switch (type) {
    case Type::i8: function(PlainElement<std::int8_t>()); break;
    case Type::u8: function(PlainElement<std::uint8_t>()); break;
    case Type::i16: function(PlainElement<std::int16_t>()); break;
    case Type::u16: function(PlainElement<std::uint16_t>()); break;
    case Type::i32: function(PlainElement<std::int32_t>()); break;
    case Type::u32: function(PlainElement<std::uint32_t>()); break;
    case Type::i64: function(PlainElement<std::int64_t>()); break;
    case Type::u64: function(PlainElement<std::uint64_t>()); break;
    case Type::f32: function(PlainElement<float>()); break;
    case Type::f64: function(PlainElement<double>()); break;
    case Type::f16: function(F16Element()); break;
    case Type::bf16: function(Bf16Element()); break;
    case Type::f8e4m3: function(F8e4m3Element()); break;
    case Type::f8e5m2: function(F8e5m2Element()); break;
  }
}

}  // namespace tutti::device
