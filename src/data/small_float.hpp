// SPDX-License-Identifier: Apache-2.0
// The small floating-point types (f16, bf16, f8e4m3, f8e5m2) to and from f32, one element at a time: the reference that
// every vector kernel agrees with bit for bit. Pure functions, constexpr, no state; thread-safe.
//
// Widening is exact. Narrowing rounds to nearest, ties to even, also among the subnormals. Beyond the greatest finite
// value: f16, bf16 and f8e5m2 go to infinity as IEEE 754 has it; f8e4m3 has no infinity and saturates at ±448, infinite
// inputs included (the saturating conversion of the OCP 8-bit specification, and what CUDA does). A NaN of any sign and
// payload narrows to the type's one NaN below, so that results do not depend on how a processor treats payloads.
// The default floating-point environment is assumed: round to nearest, subnormals kept.
#pragma once

#include <bit>
#include <cstdint>

namespace tutti {

// The layout of a format with one sign bit, `exponent_bits` and `mantissa_bits`.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // without: the greatest code is the only NaN, and narrowing saturates
  std::uint32_t nan;  // the one NaN that narrowing gives

  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr int width() const { return 1 + exponent_bits + mantissa_bits; }
  // How far the mantissa lies from where f32 has it.
  [[nodiscard]] constexpr int shift() const { return 23 - mantissa_bits; }
  [[nodiscard]] constexpr std::uint32_t magnitude_mask() const { return (1U << (width() - 1)) - 1; }
  [[nodiscard]] constexpr std::uint32_t infinity() const {
    return ((1U << exponent_bits) - 1) << mantissa_bits;  // with has_infinity only
  }
  // The magnitude of the greatest finite value.
  [[nodiscard]] constexpr std::uint32_t greatest() const {
    return has_infinity ? infinity() - 1 : magnitude_mask() - 1;
  }
  // What is added to the exponent field on the way to f32, in place.
  [[nodiscard]] constexpr std::uint32_t rebias() const { return static_cast<std::uint32_t>(127 - bias()) << 23; }
  // The f32 pattern of the least normal value, 2^(1 - bias).
  [[nodiscard]] constexpr std::uint32_t least_normal() const { return static_cast<std::uint32_t>(128 - bias()) << 23; }
  // The f32 pattern of a power of two whose unit in the last place is this format's least subnormal: added to a
  // smaller value, it makes the addition round to that unit.
  [[nodiscard]] constexpr std::uint32_t aligner() const {
    return static_cast<std::uint32_t>(128 - bias() - mantissa_bits + 23) << 23;
  }
};

inline constexpr FloatFormat kF16Format = {5, 10, true, 0x7e00};
inline constexpr FloatFormat kF8e4m3Format = {4, 3, false, 0x7f};
inline constexpr FloatFormat kF8e5m2Format = {5, 2, true, 0x7f};

inline constexpr std::uint32_t kF32Nan = 0x7fc00000;
inline constexpr std::uint64_t kF64Nan = 0x7ff8000000000000;
inline constexpr std::uint16_t kBf16Nan = 0x7fc0;

// A NaN widens to a NaN (which one is not promised).
template <FloatFormat kFormat>
constexpr float widen(std::uint32_t code) {
  const std::uint32_t magnitude = code & kFormat.magnitude_mask();
  const std::uint32_t sign = (code & ~kFormat.magnitude_mask()) << (32 - kFormat.width());
  std::uint32_t bits = 0;
  if ((magnitude >> kFormat.mantissa_bits) == 0) {
    // Subnormal m·2^-k: with the implicit bit set it reads least_normal + m·2^-k, so that is taken off again.
    const std::uint32_t with_one = (magnitude << kFormat.shift()) + kFormat.least_normal();
    bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(with_one) - std::bit_cast<float>(kFormat.least_normal()));
  } else {
    bits = (magnitude << kFormat.shift()) + kFormat.rebias();
    if (magnitude > kFormat.greatest()) bits |= 0x7f800000;
  }
  return std::bit_cast<float>(bits | sign);
}

template <FloatFormat kFormat>
constexpr std::uint32_t narrow(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t sign = (bits >> 31) << (kFormat.width() - 1);
  if (magnitude > 0x7f800000) return kFormat.nan;
  std::uint32_t code = 0;
  if (magnitude < kFormat.least_normal()) {
    const float aligner = std::bit_cast<float>(kFormat.aligner());
    code = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + aligner) - kFormat.aligner();
  } else {
    const std::uint32_t odd = (magnitude >> kFormat.shift()) & 1;
    code = (magnitude - kFormat.rebias() + (1U << (kFormat.shift() - 1)) - 1 + odd) >> kFormat.shift();
    const std::uint32_t limit = kFormat.has_infinity ? kFormat.infinity() : kFormat.greatest();
    if (code > limit) code = limit;
  }
  return code | sign;
}

constexpr float f16_to_f32(std::uint16_t code) { return widen<kF16Format>(code); }
constexpr std::uint16_t f32_to_f16(float value) { return static_cast<std::uint16_t>(narrow<kF16Format>(value)); }

constexpr float f8e4m3_to_f32(std::uint8_t code) { return widen<kF8e4m3Format>(code); }
constexpr std::uint8_t f32_to_f8e4m3(float value) { return static_cast<std::uint8_t>(narrow<kF8e4m3Format>(value)); }

constexpr float f8e5m2_to_f32(std::uint8_t code) { return widen<kF8e5m2Format>(code); }
constexpr std::uint8_t f32_to_f8e5m2(float value) { return static_cast<std::uint8_t>(narrow<kF8e5m2Format>(value)); }

// bf16 is the upper half of f32.
constexpr float bf16_to_f32(std::uint16_t code) { return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16); }
constexpr std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return kBf16Nan;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace tutti
