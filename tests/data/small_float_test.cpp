// SPDX-License-Identifier: Apache-2.0
// The conversions against the definition of each format, over every pattern and every boundary between two of them.
#include "data/small_float.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kGreatestFloat = std::numeric_limits<float>::max();

struct Format {
  std::string name;
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
  float greatest;
  std::uint32_t nan;
  float (*widen)(std::uint32_t);
  std::uint32_t (*narrow)(float);

  [[nodiscard]] std::uint32_t sign_bit() const { return 1U << (exponent_bits + mantissa_bits); }
  [[nodiscard]] std::uint32_t num_magnitudes() const { return sign_bit(); }
  [[nodiscard]] bool is_nan(std::uint32_t code) const {
    const std::uint32_t magnitude = code & (sign_bit() - 1);
    if (!has_infinity) return magnitude == sign_bit() - 1;
    return magnitude > ((1U << exponent_bits) - 1) << mantissa_bits;
  }
  // The value by the definition: (-1)^s · 2^(e − bias) · 1.m, or · 0.m at the least exponent.
  [[nodiscard]] double value(std::uint32_t code) const {
    const std::uint32_t magnitude = code & (sign_bit() - 1);
    const auto exponent = static_cast<int>(magnitude >> mantissa_bits);
    const auto mantissa = static_cast<double>(magnitude & ((1U << mantissa_bits) - 1));
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const double fraction = std::ldexp(mantissa, -mantissa_bits);
    const double result = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, exponent - bias);
    return (code & sign_bit()) != 0 ? -result : result;
  }
};

class SmallFloat : public testing::TestWithParam<Format> {};

TEST_P(SmallFloat, EveryPatternWidensToItsValueAndComesBack) {
  const Format& format = GetParam();
  for (std::uint32_t code = 0; code < 2 * format.num_magnitudes(); ++code) {
    const float wide = format.widen(code);
    if (format.is_nan(code)) {
      EXPECT_TRUE(std::isnan(wide)) << code;
      EXPECT_EQ(format.narrow(wide), format.nan) << code;
      continue;
    }
    if (std::isinf(wide)) {
      EXPECT_TRUE(format.has_infinity);
      EXPECT_GT(std::fabs(format.value(code)), static_cast<double>(format.greatest));
    } else {
      EXPECT_EQ(static_cast<double>(wide), format.value(code)) << code;
    }
    EXPECT_EQ(std::signbit(wide), (code & format.sign_bit()) != 0) << code;
    EXPECT_EQ(format.narrow(wide), code);
  }
}

TEST_P(SmallFloat, RoundsToNearestTiesToEvenAtEveryBoundary) {
  const Format& format = GetParam();
  for (std::uint32_t code = 0; format.value(code) < static_cast<double>(format.greatest); ++code) {
    const double middle = (format.value(code) + format.value(code + 1)) / 2;
    const auto tie = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(tie), middle);
    const std::uint32_t even = code % 2 == 0 ? code : code + 1;
    for (const std::uint32_t sign : {0U, format.sign_bit()}) {
      const float factor = sign != 0 ? -1.0F : 1.0F;
      EXPECT_EQ(format.narrow(factor * tie), even | sign) << tie;
      EXPECT_EQ(format.narrow(factor * std::nextafterf(tie, 0.0F)), code | sign) << tie;
      EXPECT_EQ(format.narrow(factor * std::nextafterf(tie, kInfinity)), (code + 1) | sign) << tie;
    }
  }
}

TEST_P(SmallFloat, BeyondTheGreatest) {
  const Format& format = GetParam();
  const std::uint32_t greatest = format.narrow(format.greatest);
  EXPECT_EQ(format.widen(greatest), format.greatest);
  const std::uint32_t beyond = format.has_infinity ? greatest + 1 : greatest;
  // Halfway to the value that would be next the tie is even upwards: all mantissas of the greatest are ones.
  const auto step = static_cast<float>(format.value(greatest) - format.value(greatest - 1));
  const float tie = format.greatest + step / 2;
  EXPECT_EQ(format.narrow(std::nextafterf(tie, 0.0F)), greatest);
  EXPECT_EQ(format.narrow(tie), beyond);
  EXPECT_EQ(format.narrow(kGreatestFloat), beyond);
  EXPECT_EQ(format.narrow(kInfinity), beyond);
  EXPECT_EQ(format.narrow(-kInfinity), beyond | format.sign_bit());
}

TEST_P(SmallFloat, EveryNanNarrowsToTheOne) {
  const Format& format = GetParam();
  for (const std::uint32_t bits : {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0xff800001U, 0x7fffffffU, 0xffffffffU}) {
    EXPECT_EQ(format.narrow(std::bit_cast<float>(bits)), format.nan);
  }
}

TEST_P(SmallFloat, LeastMagnitudesGoToSignedZero) {
  const Format& format = GetParam();
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(format.narrow(least), 0U);
  EXPECT_EQ(format.narrow(-least), format.sign_bit());
  EXPECT_EQ(format.narrow(-0.0F), format.sign_bit());
}

INSTANTIATE_TEST_SUITE_P(
    Formats, SmallFloat,
    testing::Values(Format{"f16", 5, 10, true, 65504.0F, 0x7e00,
                           [](std::uint32_t code) { return f16_to_f32(static_cast<std::uint16_t>(code)); },
                           [](float value) -> std::uint32_t { return f32_to_f16(value); }},
                    Format{"bf16", 8, 7, true, 3.3895313892515355e38F, 0x7fc0,
                           [](std::uint32_t code) { return bf16_to_f32(static_cast<std::uint16_t>(code)); },
                           [](float value) -> std::uint32_t { return f32_to_bf16(value); }},
                    Format{"f8e4m3", 4, 3, false, 448.0F, 0x7f,
                           [](std::uint32_t code) { return f8e4m3_to_f32(static_cast<std::uint8_t>(code)); },
                           [](float value) -> std::uint32_t { return f32_to_f8e4m3(value); }},
                    Format{"f8e5m2", 5, 2, true, 57344.0F, 0x7f,
                           [](std::uint32_t code) { return f8e5m2_to_f32(static_cast<std::uint8_t>(code)); },
                           [](float value) -> std::uint32_t { return f32_to_f8e5m2(value); }}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace tutti
