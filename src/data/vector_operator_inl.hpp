// SPDX-License-Identifier: Apache-2.0
// The operators on vectors. Included once for every instruction set, so the guard toggles. Internal to data/.
//
// An operator F has combine(d, accumulated, next); kScales (the raw source is multiplied first), kDivides (a final call
// divides) and kArithmetic (a NaN result is made the one NaN). Sums and products see unsigned integers only: they wrap,
// and the bits are those of the signed.
#if defined(TUTTI_DATA_VECTOR_OPERATOR_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_DATA_VECTOR_OPERATOR_INL_HPP
#undef TUTTI_DATA_VECTOR_OPERATOR_INL_HPP
#else
#define TUTTI_DATA_VECTOR_OPERATOR_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

// clang-format off: the instruction sets are named before Highway looks at them.
#include <hwy/highway.h>

#include "data/kernel_set.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Arithmetic {
  static constexpr bool kScales = false;
  static constexpr bool kDivides = false;
  static constexpr bool kArithmetic = true;
};

struct Exact {
  static constexpr bool kScales = false;
  static constexpr bool kDivides = false;
  static constexpr bool kArithmetic = false;
};

struct Product : Arithmetic {
  template <class D, class V>
  static HWY_INLINE V combine(D d, V a, V b) {
    using T = hn::TFromD<D>;
    if constexpr (!hwy::IsFloat<T>() && hn::MaxLanes(D()) == 1) {
      return hn::Set(d, static_cast<T>(static_cast<std::uint64_t>(hn::GetLane(a)) * hn::GetLane(b)));
    } else if constexpr (sizeof(T) == 1) {
      // No instruction multiplies bytes: the even and the odd ones as 16-bit lanes.
      const hn::RepartitionToWide<D> wide;
      const auto a16 = hn::BitCast(wide, a);
      const auto b16 = hn::BitCast(wide, b);
      const auto even = hn::And(hn::Mul(a16, b16), hn::Set(wide, std::uint16_t{0xff}));
      const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(a16), hn::ShiftRight<8>(b16)));
      return hn::BitCast(d, hn::Or(even, odd));
    } else {
      return hn::Mul(a, b);
    }
  }
};

struct Sum : Arithmetic {
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    return hn::Add(a, b);
  }
  template <class D, class V>
  static HWY_INLINE V multiply(D d, V value, V factor) {
    return Product::combine(d, value, factor);
  }
};

struct Average : Sum {
  static constexpr bool kDivides = true;
};

struct PremultipliedSum : Sum {
  static constexpr bool kScales = true;
};

// The greater one by comparison alone, since what the processors' own maxima do with NaN and ±0 differs:
// a NaN in `b` fails the comparison and is taken; one in `a` is taken explicitly; equal values differ at most in the
// sign of zero, where "and" of the bits gives +0 to a maximum and "or" gives −0 to a minimum.
struct Maximum : Arithmetic {
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const V greater = hn::IfThenElse(hn::Gt(a, b), a, b);
      const V decided = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), greater);
      return hn::IfThenElse(hn::Eq(a, a), decided, a);
    } else {
      return hn::Max(a, b);
    }
  }
};

struct Minimum : Arithmetic {
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const V less = hn::IfThenElse(hn::Lt(a, b), a, b);
      const V decided = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), less);
      return hn::IfThenElse(hn::Eq(a, a), decided, a);
    } else {
      return hn::Min(a, b);
    }
  }
};

struct BitAnd : Exact {
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    return hn::And(a, b);
  }
};

struct BitOr : Exact {
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    return hn::Or(a, b);
  }
};

struct BitXor : Exact {
  template <class D, class V>
  static HWY_INLINE V combine(D, V a, V b) {
    return hn::Xor(a, b);
  }
};

// A comparison with zero is false for NaN, so a NaN is true.
struct LogicalAnd : Exact {
  template <class D, class V>
  static HWY_INLINE V combine(D d, V a, V b) {
    const V zero = hn::Zero(d);
    return hn::IfThenZeroElse(hn::Or(hn::Eq(a, zero), hn::Eq(b, zero)), hn::Set(d, hn::TFromD<D>{1}));
  }
};

struct LogicalOr : Exact {
  template <class D, class V>
  static HWY_INLINE V combine(D d, V a, V b) {
    const V zero = hn::Zero(d);
    return hn::IfThenZeroElse(hn::And(hn::Eq(a, zero), hn::Eq(b, zero)), hn::Set(d, hn::TFromD<D>{1}));
  }
};

struct LogicalXor : Exact {
  template <class D, class V>
  static HWY_INLINE V combine(D d, V a, V b) {
    const V zero = hn::Zero(d);
    return hn::IfThenElseZero(hn::Xor(hn::Eq(a, zero), hn::Eq(b, zero)), hn::Set(d, hn::TFromD<D>{1}));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#endif  // the toggling guard
