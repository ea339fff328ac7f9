// SPDX-License-Identifier: Apache-2.0
// The types as a device folds them: what is stored, what is folded with, and the operators on it. The bits are those of
// the kernels of src/data, whose rules these are; tests hold both equal. Pure functions, for host and device.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#endif

#include "data/small_float.hpp"
#include "device/walk/words.hpp"

namespace tutti::device {

template <class Wide>
TUTTI_ON_DEVICE bool is_nan(Wide value) {
  return value != value;  // NOLINT(misc-redundant-expression)
}

template <class T>
struct PlainElement {
  using Stored = T;
  using Wide = T;
  static TUTTI_ON_DEVICE Wide widen(Stored value) { return value; }
  static TUTTI_ON_DEVICE Stored narrow(Wide value) {
    if constexpr (std::is_same_v<T, float>) {
      return is_nan(value) ? std::bit_cast<float>(kF32Nan) : value;
    } else if constexpr (std::is_same_v<T, double>) {
      return is_nan(value) ? std::bit_cast<double>(kF64Nan) : value;
    } else {
      return value;
    }
  }
};

// The device converts as small_float.hpp does, except for NaNs and, in f8e5m2, beyond the greatest value. It converts
// two values in the time of one.
struct F16Element {
  using Stored = std::uint16_t;
  using Wide = float;
  static TUTTI_ON_DEVICE Wide widen(Stored code) {
#ifdef __CUDA_ARCH__
    return __half2float(__ushort_as_half(code));
#else
    return f16_to_f32(code);
#endif
  }
  static TUTTI_ON_DEVICE Stored narrow(Wide value) {
#ifdef __CUDA_ARCH__
    return is_nan(value) ? static_cast<Stored>(kF16Format.nan) : __half_as_ushort(__float2half_rn(value));
#else
    return f32_to_f16(value);
#endif
  }
#ifdef __CUDA_ARCH__
  static TUTTI_ON_DEVICE void widen_pair(const Stored* codes, Wide* values) {
    const float2 both = __half22float2(__halves2half2(__ushort_as_half(codes[0]), __ushort_as_half(codes[1])));
    values[0] = both.x;
    values[1] = both.y;
  }
  static TUTTI_ON_DEVICE void narrow_pair(const Wide* values, Stored* codes) {
    const __half2 both = __floats2half2_rn(values[0], values[1]);
    codes[0] = is_nan(values[0]) ? static_cast<Stored>(kF16Format.nan) : __half_as_ushort(__low2half(both));
    codes[1] = is_nan(values[1]) ? static_cast<Stored>(kF16Format.nan) : __half_as_ushort(__high2half(both));
  }
#endif
};

struct Bf16Element {
  using Stored = std::uint16_t;
  using Wide = float;
  static TUTTI_ON_DEVICE Wide widen(Stored code) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16U);
  }
  static TUTTI_ON_DEVICE Stored narrow(Wide value) {
#ifdef __CUDA_ARCH__
    return is_nan(value) ? kBf16Nan : __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
    return f32_to_bf16(value);
#endif
  }
#ifdef __CUDA_ARCH__
  static TUTTI_ON_DEVICE void widen_pair(const Stored* codes, Wide* values) {
    values[0] = widen(codes[0]);
    values[1] = widen(codes[1]);
  }
  static TUTTI_ON_DEVICE void narrow_pair(const Wide* values, Stored* codes) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(values[0], values[1]);
    codes[0] = is_nan(values[0]) ? kBf16Nan : __bfloat16_as_ushort(__low2bfloat16(both));
    codes[1] = is_nan(values[1]) ? kBf16Nan : __bfloat16_as_ushort(__high2bfloat16(both));
  }
#endif
};

struct F8e4m3Element {
  using Stored = std::uint8_t;
  using Wide = float;
  static TUTTI_ON_DEVICE Wide widen(Stored code) {
#ifdef __CUDA_ARCH__
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3)));
#else
    return f8e4m3_to_f32(code);
#endif
  }
  static TUTTI_ON_DEVICE Stored narrow(Wide value) {
#ifdef __CUDA_ARCH__
    return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
#else
    return f32_to_f8e4m3(value);
#endif
  }
#ifdef __CUDA_ARCH__
  static TUTTI_ON_DEVICE void widen_pair(const Stored* codes, Wide* values) {
    const auto both = static_cast<__nv_fp8x2_storage_t>(codes[0] | codes[1] << 8U);
    const float2 wide = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(both, __NV_E4M3)));
    values[0] = wide.x;
    values[1] = wide.y;
  }
  static TUTTI_ON_DEVICE void narrow_pair(const Wide* values, Stored* codes) {
    const __nv_fp8x2_storage_t both =
        __nv_cvt_float2_to_fp8x2(make_float2(values[0], values[1]), __NV_SATFINITE, __NV_E4M3);
    codes[0] = static_cast<Stored>(both & 0xffU);
    codes[1] = static_cast<Stored>(both >> 8U);
  }
#endif
};

struct F8e5m2Element {
  using Stored = std::uint8_t;
  using Wide = float;
  static TUTTI_ON_DEVICE Wide widen(Stored code) {
#ifdef __CUDA_ARCH__
    // f16 with a shorter mantissa.
    return __half2float(__ushort_as_half(static_cast<unsigned short>(code << 8U)));
#else
    return f8e5m2_to_f32(code);
#endif
  }
  static TUTTI_ON_DEVICE Stored narrow(Wide value) {
#ifdef __CUDA_ARCH__
    if (fabsf(value) < 61440.0F) return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
    if (is_nan(value)) return static_cast<Stored>(kF8e5m2Format.nan);
    return static_cast<Stored>(value < 0 ? 0xfc : 0x7c);
#else
    return f32_to_f8e5m2(value);
#endif
  }
#ifdef __CUDA_ARCH__
  static TUTTI_ON_DEVICE void widen_pair(const Stored* codes, Wide* values) {
    const unsigned both = __byte_perm(codes[0] | static_cast<unsigned>(codes[1]) << 8U, 0, 0x1404);
    const float2 wide = __half22float2(__halves2half2(__ushort_as_half(static_cast<unsigned short>(both & 0xffffU)),
                                                      __ushort_as_half(static_cast<unsigned short>(both >> 16U))));
    values[0] = wide.x;
    values[1] = wide.y;
  }
  // From 61440 on, the instruction gives the greatest value, 57344, where small_float.hpp gives infinity. Its NaN is
  // another too. Whether any of four codes may differ for these reasons:
  static TUTTI_ON_DEVICE bool is_doubtful(std::uint32_t codes) {
    return (((codes & 0x7f7f7f7fU) + 0x05050505U) & 0x80808080U) != 0;
  }
  static TUTTI_ON_DEVICE void narrow_pair(const Wide* values, Stored* codes) {
    const __nv_fp8x2_storage_t both =
        __nv_cvt_float2_to_fp8x2(make_float2(values[0], values[1]), __NV_SATFINITE, __NV_E5M2);
    codes[0] = static_cast<Stored>(both & 0xffU);
    codes[1] = static_cast<Stored>(both >> 8U);
  }
#endif
};

template <class Wide>
TUTTI_ON_DEVICE Wide fold_bits(Op op, Wide a, Wide b) {
  if constexpr (std::is_integral_v<Wide>) {
    if (op == Op::bit_and) return static_cast<Wide>(a & b);
    if (op == Op::bit_or) return static_cast<Wide>(a | b);
    if (op == Op::bit_xor) return static_cast<Wide>(a ^ b);
  }
  return a;
}

template <class Wide>
TUTTI_ON_DEVICE Wide fold_sum(Wide a, Wide b) {
  if constexpr (std::is_integral_v<Wide>) {
    return static_cast<Wide>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class Wide>
TUTTI_ON_DEVICE Wide fold_product(Wide a, Wide b) {
  if constexpr (std::is_integral_v<Wide>) {
    return static_cast<Wide>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class Wide>
TUTTI_ON_DEVICE bool is_negative(Wide value) {
  using Bits = std::conditional_t<sizeof(Wide) == 8, std::uint64_t, std::uint32_t>;
  return std::bit_cast<Bits>(value) >> (8 * sizeof(Wide) - 1) != 0;
}

// Of floats: NaN if either is, and -0 is less than +0.
template <class Wide>
TUTTI_ON_DEVICE Wide fold_extreme(bool wants_greater, Wide a, Wide b) {
  if constexpr (std::is_floating_point_v<Wide>) {
    if (is_nan(a)) return a;
    if (is_nan(b)) return b;
    if (a == b) return is_negative(a) == wants_greater ? b : a;
  }
  return (a > b) == wants_greater ? a : b;
}

template <class Wide>
TUTTI_ON_DEVICE Wide fold_logical(Op op, Wide a, Wide b) {
  const bool x = a != Wide{0};
  const bool y = b != Wide{0};
  const bool result = op == Op::logical_and ? x && y : op == Op::logical_or ? x || y : x != y;
  return static_cast<Wide>(result ? 1 : 0);
}

// The average: `total` over `divisor`. Floats divide in their own type, integers in 64 bits.
template <class Wide>
TUTTI_ON_DEVICE Wide divided(Wide total, std::uint64_t divisor) {
  if constexpr (std::is_floating_point_v<Wide>) {
    return total / static_cast<Wide>(divisor);
  } else if constexpr (std::is_signed_v<Wide>) {
    return static_cast<Wide>(static_cast<std::int64_t>(total) / static_cast<std::int64_t>(divisor));
  } else {
    return static_cast<Wide>(static_cast<std::uint64_t>(total) / divisor);
  }
}

// A rank's own input times its factor, rounded to the type.
template <class Element>
TUTTI_ON_DEVICE typename Element::Wide scaled(typename Element::Wide value, const Operator& op) {
  using Wide = typename Element::Wide;
  if constexpr (std::is_floating_point_v<Wide>) {
    return Element::widen(Element::narrow(value * static_cast<Wide>(op.scalar)));
  } else {
    return static_cast<Wide>(static_cast<std::uint64_t>(value) * op.integer_scalar);
  }
}

}  // namespace tutti::device
