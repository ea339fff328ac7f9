// SPDX-License-Identifier: Apache-2.0
// How elements of each type are held in vector registers: a "pack" of N elements with load, store and arithmetic.
// Included once for every instruction set (Highway's foreach_target), so the guard toggles. Internal to data/.
//
// A codec E has kBytes (of an element), kLanes (elements of the widest pack), kStreams (whether its widest pack is
// worth a non-temporal store), kHeavy (whether converting takes many instructions), Scalar (the type of factors and
// divisors), and Pack<N> for every power of two up to kLanes: Value, load, combine<F>, scale and divide by a scalar;
// Stored, what stored<F> makes of a finished Value (rounded, NaNs made the one NaN), and store and stream for that.
// E::stored_four<F> does so with four of the widest packs, or returns false: then they must go one by one.
#if defined(TUTTI_DATA_VECTOR_ELEMENT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_DATA_VECTOR_ELEMENT_INL_HPP
#undef TUTTI_DATA_VECTOR_ELEMENT_INL_HPP
#else
#define TUTTI_DATA_VECTOR_ELEMENT_INL_HPP
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// clang-format off: the instruction sets are named before Highway looks at them.
#include <hwy/highway.h>

#include "data/kernel_set.hpp"
#include "data/small_float.hpp"
// clang-format on

// Where half-precision conversion is an instruction. Its rounding is the one of small_float.hpp, and NaNs are made
// canonical before it sees them.
#undef TUTTI_NATIVE_F16
#if (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3) && !defined(HWY_DISABLE_F16C)
#define TUTTI_NATIVE_F16 1
#else
#define TUTTI_NATIVE_F16 0
#endif

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Memory is touched through unsigned lanes only: Highway's partial loads of floats would read through the wrong type.
template <class D>
HWY_INLINE hn::Vec<D> load_lanes(D d, const std::uint8_t* from) {
  const hn::RebindToUnsigned<D> du;
  using Lane = hn::TFromD<decltype(du)>;
#if HWY_TARGET == HWY_SCALAR
  Lane lane;
  std::memcpy(&lane, from, sizeof(lane));
  return hn::BitCast(d, hn::Set(du, lane));
#else
  return hn::BitCast(d, hn::LoadU(du, reinterpret_cast<const Lane*>(from)));
#endif
}

template <class D>
HWY_INLINE void store_lanes(D d, hn::Vec<D> value, std::uint8_t* to) {
  const hn::RebindToUnsigned<D> du;
  using Lane = hn::TFromD<decltype(du)>;
#if HWY_TARGET == HWY_SCALAR
  const Lane lane = hn::GetLane(hn::BitCast(du, value));
  std::memcpy(to, &lane, sizeof(lane));
  static_cast<void>(d);
#else
  hn::StoreU(hn::BitCast(du, value), du, reinterpret_cast<Lane*>(to));
  static_cast<void>(d);
#endif
}

// `to` is aligned for the vector.
template <class D>
HWY_INLINE void stream_lanes(D d, hn::Vec<D> value, std::uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  store_lanes(d, value, to);
#else
  const hn::RebindToUnsigned<D> du;
  hn::Stream(hn::BitCast(du, value), du, reinterpret_cast<hn::TFromD<decltype(du)>*>(to));
  static_cast<void>(d);
#endif
}

template <class D>
HWY_INLINE hn::Vec<D> canonical_nan(D d, hn::Vec<D> value) {
  using T = hn::TFromD<D>;
  if constexpr (hwy::IsFloat<T>()) {
    const hn::RebindToUnsigned<D> du;
    using Bits = hn::TFromD<decltype(du)>;
    constexpr Bits kNan = static_cast<Bits>(sizeof(T) == 4 ? kF32Nan : kF64Nan);
    return hn::IfThenElse(hn::Eq(value, value), value, hn::BitCast(d, hn::Set(du, kNan)));
  } else {
    return value;
  }
}

template <class V>
struct Four {
  V a;
  V b;
  V c;
  V d;
};

template <class E, class F, class V>
HWY_INLINE auto stored_one_by_one(const Four<V>& values) {
  using Pack = typename E::template Pack<E::kLanes>;
  return Four<typename Pack::Stored>{Pack::template stored<F>(values.a), Pack::template stored<F>(values.b),
                                     Pack::template stored<F>(values.c), Pack::template stored<F>(values.d)};
}

// Types that are computed with as they are stored.
template <class T>
struct Plain {
  using Scalar = T;
  static constexpr std::size_t kBytes = sizeof(T);
  static constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  static constexpr bool kStreams = HWY_TARGET != HWY_SCALAR;
  static constexpr bool kHeavy = false;

  template <std::size_t N>
  struct Pack {
    using D = hn::CappedTag<T, N>;
    using Value = hn::Vec<D>;
    using Stored = Value;

    static HWY_INLINE Value load(const std::uint8_t* from) { return load_lanes(D(), from); }
    template <class F>
    static HWY_INLINE Stored stored(Value value) {
      if constexpr (F::kArithmetic) return canonical_nan(D(), value);
      return value;
    }
    static HWY_INLINE void store(Stored value, std::uint8_t* to) { store_lanes(D(), value, to); }
    static HWY_INLINE void stream(Stored value, std::uint8_t* to) { stream_lanes(D(), value, to); }
    template <class F>
    static HWY_INLINE Value combine(Value a, Value b) {
      return F::combine(D(), a, b);
    }
    template <class F>
    static HWY_INLINE Value scale(Value value, Scalar factor) {
      return F::multiply(D(), value, hn::Set(D(), factor));
    }
    static HWY_INLINE Value divide(Value value, Scalar divisor) {
      if constexpr (hwy::IsFloat<T>()) {
        return hn::Div(value, hn::Set(D(), divisor));
      } else {
        static_cast<void>(divisor);
        return value;
      }
    }
  };

  template <class F, class V, class S>
  static HWY_INLINE bool stored_four(const Four<V>& values, Four<S>& stored) {
    stored = stored_one_by_one<Plain, F>(values);
    return true;
  }
};

// bf16 in pairs: an f32 vector of the even elements and one of the odd. Both come out of the stored 32-bit words by a
// shift and a mask, so nothing ever crosses lanes.
template <class V>
struct EvenOdd {
  V even;
  V odd;
};

struct Brain {
  using Scalar = float;
  static constexpr std::size_t kBytes = 2;
  static constexpr std::size_t kLanes = 2 * hn::MaxLanes(hn::ScalableTag<float>());
  static constexpr bool kStreams = HWY_TARGET != HWY_SCALAR;
  static constexpr bool kHeavy = false;

  // Rounded to bf16 in the upper half of each lane; the lower half is left over.
  template <class D>
  static HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> rounded(D d, hn::Vec<D> value) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, canonical_nan(d, value));
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1U));
    return hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffU)));
  }

  // The value that the rounded one widens to.
  template <class D>
  static HWY_INLINE hn::Vec<D> rounded_value(D d, hn::Vec<D> value) {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::And(rounded(d, value), hn::Set(du, 0xffff0000U)));
  }

  // Words of two rounded elements. Not for NaN.
  template <class D>
  static HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> joined([[maybe_unused]] D d, hn::Vec<D> even, hn::Vec<D> odd) {
    const hn::RebindToUnsigned<D> du;
#if HWY_TARGET == HWY_SCALAR
    return hn::Or(hn::ShiftRight<16>(rounded(d, even)), hn::And(rounded(d, odd), hn::Set(du, 0xffff0000U)));
#else
    // Half a unit is added, so ties go up and leave zeros below: there, the unit's own bit is cleared, which makes them
    // even. Low halves stand in `below` where the high ones stand in `above`, and 0xfffe added with saturation is the
    // mask for both kinds.
    const hn::Repartition<std::uint16_t, decltype(du)> d16;
    const auto half = hn::Set(du, 0x8000U);
    const auto even_up = hn::Add(hn::BitCast(du, even), half);
    const auto odd_up = hn::Add(hn::BitCast(du, odd), half);
    const auto even16 = hn::BitCast(d16, even_up);
    const auto odd16 = hn::BitCast(d16, odd_up);
#if HWY_TARGET == HWY_AVX3
    if constexpr (hn::MaxLanes(D()) == 16) {
      // A shuffle that leaves other bytes alone takes a half across and puts it beside the other at once.
      using V16 = hn::Vec<decltype(d16)>;
      const __m512i down = _mm512_set4_epi32(0x0f0e0f0e, 0x0b0a0b0a, 0x07060706, 0x03020302);
      const __m512i up = _mm512_set4_epi32(0x0d0c0d0c, 0x09080908, 0x05040504, 0x01000100);
      const V16 above{_mm512_mask_shuffle_epi8(odd16.raw, 0x3333333333333333U, even16.raw, down)};
      const V16 below{_mm512_mask_shuffle_epi8(even16.raw, 0xccccccccccccccccU, odd16.raw, up)};
      return hn::BitCast(du, hn::And(above, hn::SaturatedAdd(below, hn::Set(d16, std::uint16_t{0xfffe}))));
    }
#endif
    const auto above = hn::OddEven(odd16, hn::BitCast(d16, hn::ShiftRight<16>(even_up)));
    const auto below = hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(odd_up)), even16);
    return hn::BitCast(du, hn::And(above, hn::SaturatedAdd(below, hn::Set(d16, std::uint16_t{0xfffe}))));
#endif
  }

  template <std::size_t N>
  struct Pack {
    using D = hn::CappedTag<float, N / 2>;
    using DU = hn::RebindToUnsigned<D>;
    using Value = EvenOdd<hn::Vec<D>>;
    using Stored = hn::Vec<DU>;

    static HWY_INLINE Value load(const std::uint8_t* from) {
      auto words = load_lanes(DU(), from);
#if HWY_TARGET == HWY_AVX3
      asm("" : "+v"(words.raw));  // in a register, once: each of the two below would load it again
#endif
      return {hn::BitCast(D(), hn::ShiftLeft<16>(words)), hn::BitCast(D(), hn::And(words, hn::Set(DU(), 0xffff0000U)))};
    }
    template <class F>
    static HWY_INLINE Stored stored(Value value) {
      return joined(D(), canonical_nan(D(), value.even), canonical_nan(D(), value.odd));
    }
    static HWY_INLINE void store(Stored words, std::uint8_t* to) { store_lanes(DU(), words, to); }
    static HWY_INLINE void stream(Stored words, std::uint8_t* to) { stream_lanes(DU(), words, to); }
    template <class F>
    static HWY_INLINE Value combine(Value a, Value b) {
      return {F::combine(D(), a.even, b.even), F::combine(D(), a.odd, b.odd)};
    }
    template <class F>
    static HWY_INLINE Value scale(Value value, Scalar factor) {
      const auto by = hn::Set(D(), factor);
      return {rounded_value(D(), hn::Mul(value.even, by)), rounded_value(D(), hn::Mul(value.odd, by))};
    }
    static HWY_INLINE Value divide(Value value, Scalar divisor) {
      const auto by = hn::Set(D(), divisor);
      return {hn::Div(value.even, by), hn::Div(value.odd, by)};
    }
  };

  // Whether there is any NaN is asked once for all: by two at a time where a comparison takes what the one before has
  // found along; else their sum is NaN then (and sometimes without, between infinities, which costs time but is right).
  template <class F, class V, class S>
  static HWY_INLINE bool stored_four(const Four<V>& values, Four<S>& stored) {
    using Widest = Pack<kLanes>;
    const typename Widest::D d;
#if HWY_TARGET == HWY_AVX3
    __mmask16 no_nan = _mm512_cmp_ps_mask(values.a.even.raw, values.a.odd.raw, _CMP_ORD_Q);
    no_nan = _mm512_mask_cmp_ps_mask(no_nan, values.b.even.raw, values.b.odd.raw, _CMP_ORD_Q);
    no_nan = _mm512_mask_cmp_ps_mask(no_nan, values.c.even.raw, values.c.odd.raw, _CMP_ORD_Q);
    no_nan = _mm512_mask_cmp_ps_mask(no_nan, values.d.even.raw, values.d.odd.raw, _CMP_ORD_Q);
    const bool is_right = no_nan == 0xffff;
#else
    const auto sum = hn::Add(hn::Add(hn::Add(values.a.even, values.a.odd), hn::Add(values.b.even, values.b.odd)),
                             hn::Add(hn::Add(values.c.even, values.c.odd), hn::Add(values.d.even, values.d.odd)));
    const bool is_right = hn::AllTrue(d, hn::Eq(sum, sum));
#endif
    stored = {joined(d, values.a.even, values.a.odd), joined(d, values.b.even, values.b.odd),
              joined(d, values.c.even, values.c.odd), joined(d, values.d.even, values.d.odd)};
    return is_right;
  }
};

// A single element goes through one lane.
template <>
struct Brain::Pack<1> {
  using D = hn::CappedTag<float, 1>;
  using DU = hn::RebindToUnsigned<D>;
  using Value = hn::Vec<D>;
  using Stored = std::uint16_t;

  static HWY_INLINE Value load(const std::uint8_t* from) {
    std::uint16_t code;
    std::memcpy(&code, from, sizeof(code));
    return hn::BitCast(D(), hn::Set(DU(), static_cast<std::uint32_t>(code) << 16));
  }
  template <class F>
  static HWY_INLINE Stored stored(Value value) {
    return static_cast<std::uint16_t>(hn::GetLane(rounded(D(), value)) >> 16);
  }
  static HWY_INLINE void store(Stored code, std::uint8_t* to) { std::memcpy(to, &code, sizeof(code)); }
  static HWY_INLINE void stream(Stored code, std::uint8_t* to) { store(code, to); }
  template <class F>
  static HWY_INLINE Value combine(Value a, Value b) {
    return F::combine(D(), a, b);
  }
  template <class F>
  static HWY_INLINE Value scale(Value value, Scalar factor) {
    return rounded_value(D(), hn::Mul(value, hn::Set(D(), factor)));
  }
  static HWY_INLINE Value divide(Value value, Scalar divisor) { return hn::Div(value, hn::Set(D(), divisor)); }
};

// The conversions of small_float.hpp on vectors, step by step the same.
template <FloatFormat kFormat, class D>
HWY_INLINE hn::Vec<D> widen_codes(D d, hn::Vec<hn::RebindToUnsigned<D>> codes) {
  const hn::RebindToUnsigned<D> du;
  const auto magnitude = hn::And(codes, hn::Set(du, kFormat.magnitude_mask()));
  const auto sign = hn::And(hn::ShiftLeft<32 - kFormat.width()>(codes), hn::Set(du, 0x80000000U));
  const auto placed = hn::ShiftLeft<kFormat.shift()>(magnitude);
  const auto least = hn::Set(du, kFormat.least_normal());
  const auto subnormal = hn::BitCast(du, hn::Sub(hn::BitCast(d, hn::Add(placed, least)), hn::BitCast(d, least)));
  const auto normal = hn::Add(placed, hn::Set(du, kFormat.rebias()));
  const auto special = hn::Or(normal, hn::Set(du, 0x7f800000U));
  auto bits = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, kFormat.greatest())), special, normal);
  bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 1U << kFormat.mantissa_bits)), subnormal, bits);
  return hn::BitCast(d, hn::Or(bits, sign));
}

template <FloatFormat kFormat, class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> narrow_to_codes(D d, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, value);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffU));
  const auto sign = hn::ShiftLeft<kFormat.width() - 1>(hn::ShiftRight<31>(bits));
  const auto aligner = hn::Set(du, kFormat.aligner());
  const auto subnormal = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, aligner))), aligner);
  const auto odd = hn::And(hn::ShiftRight<kFormat.shift()>(magnitude), hn::Set(du, 1U));
  constexpr std::uint32_t kBelowHalf = (1U << (kFormat.shift() - 1)) - 1;
  const auto rebased = hn::Sub(magnitude, hn::Set(du, kFormat.rebias()));
  constexpr std::uint32_t kLimit = kFormat.has_infinity ? kFormat.infinity() : kFormat.greatest();
  const auto normal = hn::Min(hn::ShiftRight<kFormat.shift()>(hn::Add(rebased, hn::Add(odd, hn::Set(du, kBelowHalf)))),
                              hn::Set(du, kLimit));
  const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, kFormat.least_normal())), subnormal, normal);
  return hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7f800000U)), hn::Set(du, kFormat.nan), hn::Or(finite, sign));
}

// f16 and the 8-bit floats: codes of `Code`, computed with as one f32 vector.
template <class Code, FloatFormat kFormat>
struct Small {
  using Scalar = float;
  static constexpr std::size_t kBytes = sizeof(Code);
  static constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
  static constexpr bool kNative = sizeof(Code) == 2 && TUTTI_NATIVE_F16;
  static constexpr bool kStreams = kNative;
  static constexpr bool kHeavy = !kNative;

  template <std::size_t N>
  struct Pack {
    using D = hn::CappedTag<float, N>;
    using DU = hn::RebindToUnsigned<D>;
    using DC = hn::Rebind<Code, D>;
    using Value = hn::Vec<D>;
    using Stored = hn::Vec<DC>;

    static HWY_INLINE Value widened(hn::Vec<DC> codes) {
#if TUTTI_NATIVE_F16
      if constexpr (kNative) {
        return hn::PromoteTo(D(), hn::BitCast(hn::Rebind<hwy::float16_t, D>(), codes));
      } else  // NOLINT(readability-else-after-return): the other branch must not be compiled
#endif
      {
        return widen_codes<kFormat>(D(), hn::PromoteTo(DU(), codes));
      }
    }
    static HWY_INLINE hn::Vec<DC> narrowed(Value value) {
#if TUTTI_NATIVE_F16
      if constexpr (kNative) {
        return hn::BitCast(DC(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), canonical_nan(D(), value)));
      } else  // NOLINT(readability-else-after-return): the other branch must not be compiled
#endif
      {
        return hn::TruncateTo(DC(), narrow_to_codes<kFormat>(D(), value));
      }
    }
    static HWY_INLINE Value load(const std::uint8_t* from) { return widened(load_lanes(DC(), from)); }
    template <class F>
    static HWY_INLINE Stored stored(Value value) {
      return narrowed(value);
    }
    static HWY_INLINE void store(Stored codes, std::uint8_t* to) { store_lanes(DC(), codes, to); }
    static HWY_INLINE void stream(Stored codes, std::uint8_t* to) { stream_lanes(DC(), codes, to); }
    template <class F>
    static HWY_INLINE Value combine(Value a, Value b) {
      return F::combine(D(), a, b);
    }
    template <class F>
    static HWY_INLINE Value scale(Value value, Scalar factor) {
      return widened(narrowed(hn::Mul(value, hn::Set(D(), factor))));
    }
    static HWY_INLINE Value divide(Value value, Scalar divisor) { return hn::Div(value, hn::Set(D(), divisor)); }
  };

  template <class F, class V, class S>
  static HWY_INLINE bool stored_four(const Four<V>& values, Four<S>& stored) {
    stored = stored_one_by_one<Small, F>(values);
    return true;
  }
};

using Half = Small<std::uint16_t, kF16Format>;
using Float8e4m3 = Small<std::uint8_t, kF8e4m3Format>;
using Float8e5m2 = Small<std::uint8_t, kF8e5m2Format>;

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#endif  // the toggling guard
