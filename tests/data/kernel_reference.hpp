// SPDX-License-Identifier: Apache-2.0
// What a kernel must compute, written once more, plainly: one element at a time, without vectors.
// Header of the data tests only; pure functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "data/kernel.hpp"
#include "data/small_float.hpp"

namespace tutti::reference {

template <class T>
T element(const void* base, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::uint8_t*>(base) + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
T fold(Op op, T a, T b) {
  switch (op) {
    case Op::logical_and: return static_cast<T>(a != T{0} && b != T{0});
    case Op::logical_or: return static_cast<T>(a != T{0} || b != T{0});
    case Op::logical_xor: return static_cast<T>((a != T{0}) != (b != T{0}));
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case Op::product: return a * b;
      case Op::maximum:
        if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
        if (a == b) return std::signbit(a) ? b : a;
        return a > b ? a : b;
      case Op::minimum:
        if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
        if (a == b) return std::signbit(a) ? a : b;
        return a < b ? a : b;
      default: return a + b;
    }
  } else {
    // By way of a signed number, so that a sign is seen to be extended.
    const auto x = static_cast<std::uint64_t>(static_cast<std::int64_t>(a));
    const auto y = static_cast<std::uint64_t>(static_cast<std::int64_t>(b));
    switch (op) {
      case Op::product: return static_cast<T>(x * y);
      case Op::maximum: return a > b ? a : b;
      case Op::minimum: return a < b ? a : b;
      case Op::bit_and: return static_cast<T>(x & y);
      case Op::bit_or: return static_cast<T>(x | y);
      case Op::bit_xor: return static_cast<T>(x ^ y);
      default: return static_cast<T>(x + y);
    }
  }
}

// T as stored, W as computed with.
template <class T, class W, class Widen, class Narrow>
void reduce_as(const Operator& op, const ReduceCall& call, std::uint8_t* out, Widen widen, Narrow narrow) {
  const bool scales = op.op == Op::premultiplied_sum && call.raw_source != kNoSource;
  const bool divides = op.op == Op::average && call.final;
  for (std::size_t i = 0; i < call.count; ++i) {
    T result = element<T>(call.sources[0], i);
    if (call.num_sources > 1 || scales || divides) {
      W total{};
      for (std::uint32_t j = 0; j < call.num_sources; ++j) {
        W value = widen(element<T>(call.sources[j], i));
        if (scales && j == call.raw_source) {
          if constexpr (std::is_floating_point_v<W>) {
            value = widen(narrow(value * static_cast<W>(op.scalar)));
          } else {
            value = static_cast<W>(static_cast<std::uint64_t>(value) * op.integer_scalar);
          }
        }
        total = j == 0 ? value : fold(op.op, total, value);
      }
      if (divides) {
        if constexpr (std::is_floating_point_v<W>) {
          total = total / static_cast<W>(op.divisor);
        } else if constexpr (std::is_signed_v<W>) {
          total = static_cast<W>(static_cast<std::int64_t>(total) / static_cast<std::int64_t>(op.divisor));
        } else {
          total = static_cast<W>(total / op.divisor);
        }
      }
      result = narrow(total);
    }
    std::memcpy(out + i * sizeof(T), &result, sizeof(T));
  }
}

template <class T>
void reduce_plain(const Operator& op, const ReduceCall& call, std::uint8_t* out) {
  const auto same = [](T value) { return value; };
  const auto one_nan = [](T value) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
    }
    return value;
  };
  reduce_as<T, T>(op, call, out, same, one_nan);
}

// The result of the call, as bytes.
inline std::vector<std::uint8_t> reduce(const Operator& op, const ReduceCall& call) {
  std::vector<std::uint8_t> bytes(call.count * size_of(op.type));
  std::uint8_t* out = bytes.data();
  switch (op.type) {
    case Type::i8: reduce_plain<std::int8_t>(op, call, out); break;
    case Type::u8: reduce_plain<std::uint8_t>(op, call, out); break;
    case Type::i16: reduce_plain<std::int16_t>(op, call, out); break;
    case Type::u16: reduce_plain<std::uint16_t>(op, call, out); break;
    case Type::i32: reduce_plain<std::int32_t>(op, call, out); break;
    case Type::u32: reduce_plain<std::uint32_t>(op, call, out); break;
    case Type::i64: reduce_plain<std::int64_t>(op, call, out); break;
    case Type::u64: reduce_plain<std::uint64_t>(op, call, out); break;
    case Type::f32: reduce_plain<float>(op, call, out); break;
    case Type::f64: reduce_plain<double>(op, call, out); break;
    case Type::f16: reduce_as<std::uint16_t, float>(op, call, out, f16_to_f32, f32_to_f16); break;
    case Type::bf16: reduce_as<std::uint16_t, float>(op, call, out, bf16_to_f32, f32_to_bf16); break;
    case Type::f8e4m3: reduce_as<std::uint8_t, float>(op, call, out, f8e4m3_to_f32, f32_to_f8e4m3); break;
    case Type::f8e5m2: reduce_as<std::uint8_t, float>(op, call, out, f8e5m2_to_f32, f32_to_f8e5m2); break;
  }
  return bytes;
}

}  // namespace tutti::reference
