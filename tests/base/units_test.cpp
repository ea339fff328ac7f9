// SPDX-License-Identifier: Apache-2.0
#include "base/units.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::uint64_t kKi = 1ULL << 10;
constexpr std::uint64_t kMi = 1ULL << 20;

std::uint64_t bytes(std::string_view text) {
  const Result<Bytes> result = parse_bytes(text);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? result->value() : std::numeric_limits<std::uint64_t>::max();
}

std::int64_t nanos(std::string_view text) {
  const Result<Nanos> result = parse_duration(text);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? result->value() : -1;
}

std::string bytes_error(std::string_view text) {
  const Result<Bytes> result = parse_bytes(text);
  EXPECT_FALSE(result.ok()) << text;
  EXPECT_TRUE(result.ok() || result.status().code() == Code::invalid_argument);
  return result.status().to_string();
}

std::vector<std::uint64_t> points(std::string_view text) {
  const Result<std::vector<Bytes>> result = parse_byte_list(text);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  std::vector<std::uint64_t> values;
  if (result.ok()) {
    for (const Bytes point : *result) values.push_back(point.value());
  }
  return values;
}

std::string list_error(std::string_view text) {
  const Result<std::vector<Bytes>> result = parse_byte_list(text);
  EXPECT_FALSE(result.ok()) << text;
  return result.status().to_string();
}

using Values = std::vector<std::uint64_t>;

TEST(Bytes, AllWaysToWriteFourMebibytes) {
  for (const char* text : {"4M", "4MB", "4MiB", "4m", "4mb", "4mib", " 4 M ", "4096K", "4194304", "4194304B", "4.0M"}) {
    EXPECT_EQ(bytes(text), 4 * kMi) << text;
  }
}

TEST(Bytes, EveryUnit) {
  EXPECT_EQ(bytes("0"), 0U);
  EXPECT_EQ(bytes("1K"), kKi);
  EXPECT_EQ(bytes("1M"), kMi);
  EXPECT_EQ(bytes("1G"), 1ULL << 30);
  EXPECT_EQ(bytes("1T"), 1ULL << 40);
  EXPECT_EQ(bytes("1TiB"), 1ULL << 40);
}

TEST(Bytes, FractionsWhereTheyAreExact) {
  EXPECT_EQ(bytes("1.5M"), kMi + kMi / 2);
  EXPECT_EQ(bytes("0.5K"), 512U);
  EXPECT_EQ(bytes("0.0009765625K"), 1U);
  EXPECT_EQ(bytes("1.50000000000000000000000000000000M"), kMi + kMi / 2);
  EXPECT_NE(bytes_error("1.1K").find("not exact"), std::string::npos);
  EXPECT_NE(bytes_error("0.5").find("not exact"), std::string::npos);
  EXPECT_NE(bytes_error("0.33333333333333333333333333K").find("not exact"), std::string::npos);
}

TEST(Bytes, TheEndOfTheRange) {
  EXPECT_EQ(bytes("9223372036854775807"), 9223372036854775807ULL);
  EXPECT_EQ(bytes("8388607T"), 8388607ULL << 40);
  EXPECT_NE(bytes_error("9223372036854775808").find("too large"), std::string::npos);
  EXPECT_NE(bytes_error("8388608T").find("too large"), std::string::npos);
  EXPECT_NE(bytes_error("99999999999999999999999").find("too large"), std::string::npos);
}

TEST(Bytes, AMessageSaysWhatWasFoundAndWhatIsRight) {
  const std::string error = bytes_error("4 parsecs");
  EXPECT_NE(error.find("'4 parsecs'"), std::string::npos) << error;
  EXPECT_NE(error.find("'parsecs' is not a unit"), std::string::npos) << error;
  EXPECT_NE(error.find("such as 4M"), std::string::npos) << error;
  EXPECT_NE(bytes_error("-4K").find("negative"), std::string::npos);
  EXPECT_NE(bytes_error("").find("nothing"), std::string::npos);
  EXPECT_NE(bytes_error("4.M").find("digit"), std::string::npos);
}

TEST(Bytes, Garbage) {
  for (const char* text :
       {"abc", "M", "+4", "4MM", "4KiBs", "1e6", "0x10", ".5K", "4,5M", "4 4", "4Ki", "\xFF", "4\n", "nan"}) {
    bytes_error(text);
  }
}

TEST(Bytes, TextIsExactAndReadBack) {
  EXPECT_EQ(to_text(Bytes(0)), "0");
  EXPECT_EQ(to_text(Bytes(1000)), "1000");
  EXPECT_EQ(to_text(Bytes(4 * kMi)), "4M");
  EXPECT_EQ(to_text(Bytes(1536 * kKi)), "1536K");
  EXPECT_EQ(to_text(Bytes(1ULL << 40)), "1T");
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t value = random() >> (1 + random() % 63) << (random() % 8);
    if (value > std::numeric_limits<std::int64_t>::max()) continue;
    EXPECT_EQ(bytes(to_text(Bytes(value))), value);
  }
}

TEST(ByteList, ListsAndRanges) {
  EXPECT_EQ(points("8"), Values{8});
  EXPECT_EQ(points("8, 64,1K"), (Values{8, 64, 1024}));
  EXPECT_EQ(points("8:64:+8"), (Values{8, 16, 24, 32, 40, 48, 56, 64}));
  EXPECT_EQ(points("8:128:x4"), (Values{8, 32, 128}));
  EXPECT_EQ(points("1K:4K"), (Values{1024, 2048, 4096}));
  EXPECT_EQ(points("4,1K:2K:+512"), (Values{4, 1024, 1536, 2048}));
  EXPECT_EQ(points("8:64M:x4").back(), 64 * kMi);
  EXPECT_EQ(points("8:64M:x4").size(), 13U);
}

TEST(ByteList, ARangeIncludesItsEndWhereTheStepMissesIt) {
  EXPECT_EQ(points("8:100:x4"), (Values{8, 32, 100}));
  EXPECT_EQ(points("0:20:+8"), (Values{0, 8, 16, 20}));
  EXPECT_EQ(points("8:9:x4"), (Values{8, 9}));
  EXPECT_EQ(points("8:8:x4"), Values{8});
  EXPECT_EQ(points("0:0:x4"), Values{0});
}

TEST(ByteList, TheEndOfTheRangeDoesNotWrapAround) {
  EXPECT_EQ(points("1:9223372036854775807:x9223372036854775807"), (Values{1, 9223372036854775807ULL}));
  EXPECT_EQ(points("4611686018427387904:9223372036854775807:x4").size(), 2U);
  EXPECT_EQ(points("1:9223372036854775807:+9223372036854775807").size(), 2U);
}

TEST(ByteList, ARangeHasAtMostAsManyPointsAsAreAllowed) {
  EXPECT_EQ(parse_byte_list("1:4:+1,1:4:+1", 4)->size(), 8U);
  const Result<std::vector<Bytes>> one_more = parse_byte_list("1:4:+1,1:5:+1", 4);
  ASSERT_FALSE(one_more.ok());
  EXPECT_NE(one_more.status().to_string().find("'1:5:+1' has more than 4 points"), std::string::npos);
}

TEST(ByteList, Garbage) {
  EXPECT_NE(list_error("64:8:x2").find("ends before it begins"), std::string::npos);
  EXPECT_NE(list_error("0:8:x2").find("no factor"), std::string::npos);
  EXPECT_NE(list_error("8:64:x1").find("gets nowhere"), std::string::npos);
  EXPECT_NE(list_error("8:64:+0").find("gets nowhere"), std::string::npos);
  EXPECT_NE(list_error("8:64:4").find("neither x nor +"), std::string::npos);
  EXPECT_NE(list_error("8:64:").find("neither x nor +"), std::string::npos);
  EXPECT_NE(list_error("8:64:x1.5").find("whole number"), std::string::npos);
  EXPECT_NE(list_error("8:64:+lots").find("'lots'"), std::string::npos);
  EXPECT_NE(list_error("8:64:x2:9").find("three parts"), std::string::npos);
  EXPECT_NE(list_error("0:1T:+1").find("more than"), std::string::npos);
  for (const char* text : {"", ",", "8,", "8,,9", "8:", ":8", "a:b:x2", "8;9"}) list_error(text);
}

TEST(Duration, EveryUnit) {
  EXPECT_EQ(nanos("30s"), 30'000'000'000);
  EXPECT_EQ(nanos("30"), 30'000'000'000);
  EXPECT_EQ(nanos("250ms"), 250'000'000);
  EXPECT_EQ(nanos("10us"), 10'000);
  EXPECT_EQ(nanos("10\u00b5s"), 10'000);
  EXPECT_EQ(nanos("10\u03bcs"), 10'000);
  EXPECT_EQ(nanos("5ns"), 5);
  EXPECT_EQ(nanos("1m"), 60'000'000'000);
  EXPECT_EQ(nanos("1min"), 60'000'000'000);
  EXPECT_EQ(nanos("2h"), 7'200'000'000'000);
  EXPECT_EQ(nanos("1.5s"), 1'500'000'000);
  EXPECT_EQ(nanos("0.25"), 250'000'000);
  EXPECT_EQ(nanos("0"), 0);
}

TEST(Duration, Garbage) {
  for (const char* text : {"", "abc", "-1s", "1M", "1S", "1.5ns", "3000000h", "4 parsecs", "1s2"}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
  EXPECT_NE(parse_duration("4 parsecs").status().to_string().find("such as 250ms"), std::string::npos);
}

TEST(Duration, TextIsExactAndReadBack) {
  EXPECT_EQ(to_text(Nanos(0)), "0s");
  EXPECT_EQ(to_text(Nanos(30'000'000'000)), "30s");
  EXPECT_EQ(to_text(Nanos(60'000'000'000)), "1m");
  EXPECT_EQ(to_text(Nanos(90'000'000'000)), "90s");
  EXPECT_EQ(to_text(Nanos(7'200'000'000'000)), "2h");
  EXPECT_EQ(to_text(Nanos(1'500'000)), "1.5ms");
  EXPECT_EQ(to_text(Nanos(1'000'000'001)), "1.000000001s");
  EXPECT_EQ(to_text(Nanos(1'005)), "1.005us");
  EXPECT_EQ(to_text(Nanos(-1'500'000)), "-1.5ms");
  EXPECT_EQ(to_text(Nanos(std::numeric_limits<std::int64_t>::min())), "-9223372036.854775808s");
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    EXPECT_EQ(nanos(to_text(Nanos(value))), value);
  }
}

TEST(Integer, WholeTextOrNothing) {
  EXPECT_EQ(*parse_integer("-2"), -2);
  EXPECT_EQ(*parse_integer(" 7 "), 7);
  EXPECT_EQ(*parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "abc", "7x", "7 8", "+7", "1.5", "0x10", "--7"}) {
    EXPECT_NE(parse_integer(text).status().to_string().find("not a whole number"), std::string::npos) << text;
  }
  EXPECT_NE(parse_integer("9223372036854775808").status().to_string().find("too large"), std::string::npos);
}

TEST(Share, IsANumberOrSoManyHundredths) {
  EXPECT_DOUBLE_EQ(*parse_share("2%"), 0.02);
  EXPECT_DOUBLE_EQ(*parse_share(" 12.5 % "), 0.125);
  EXPECT_DOUBLE_EQ(*parse_share("0.02"), 0.02);
  EXPECT_DOUBLE_EQ(*parse_share("0"), 0);
  for (const char* text : {"", "%", "-1%", "nan", "inf", "1e999", "2%%", "2 % x", "4K", "two"})
    EXPECT_NE(parse_share(text).status().to_string().find("is no share"), std::string::npos) << text;
}

TEST(StrongTypes, CompareAndStandInConstantExpressions) {
  static_assert(Bytes(4) < Bytes(5) && Bytes().value() == 0);
  static_assert(Nanos(-1) < Nanos(0) && Rank(3).value() == 3 && Rank(3) == Rank(3));
  static_assert(!std::is_convertible_v<int, Rank> && !std::is_convertible_v<int, Bytes>);
}

}  // namespace
}  // namespace tutti
