// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/value.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

constexpr std::int64_t kMi = 1LL << 20;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

using Values = std::vector<Value>;

Values values(std::string_view text) {
  const Result<Values> result = parse_values(text);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? *result : Values{};
}

std::string refusal_of_value(std::string_view text) {
  const Result<Values> result = parse_values(text);
  EXPECT_FALSE(result.ok()) << text;
  EXPECT_TRUE(result.ok() || result.status().code() == Code::invalid_argument) << text;
  return result.status().to_string();
}

void expect_error(std::string_view text, std::string_view words) {
  const std::string message = refusal_of_value(text);
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(Value, KnowsWhatItIs) {
  const Value integer = 7;
  EXPECT_TRUE(integer.is_integer() && integer.is_number() && !integer.is_word());
  EXPECT_EQ(integer.integer(), 7);
  EXPECT_EQ(integer.number(), 7.0);
  EXPECT_EQ(integer.word(), "");

  const Value fraction = 2.5;
  EXPECT_TRUE(!fraction.is_integer() && fraction.is_number() && !fraction.is_word());
  EXPECT_EQ(fraction.integer(), 2);
  EXPECT_EQ(fraction.number(), 2.5);

  const Value word = "ring";
  EXPECT_TRUE(!word.is_integer() && !word.is_number() && word.is_word());
  EXPECT_EQ(word.integer(), 0);
  EXPECT_EQ(word.number(), 0.0);
  EXPECT_EQ(word.word(), "ring");

  EXPECT_EQ(Value(), Value(0));
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value(1), Value("1"));
}

TEST(Value, AFractionAsAWholeNumberStaysWithin64Bits) {
  EXPECT_EQ(Value(-2.9).integer(), -2);
  EXPECT_EQ(Value(1e300).integer(), kMost);
  EXPECT_EQ(Value(9223372036854775808.0).integer(), kMost);
  EXPECT_EQ(Value(-1e300).integer(), kLeast);
  EXPECT_EQ(Value(-9223372036854775808.0).integer(), kLeast);
}

TEST(ParseValue, WhatIsWrittenAsANumberIsOne) {
  EXPECT_EQ(parse_value("64"), Value(64));
  EXPECT_EQ(parse_value(" -3 "), Value(-3));
  EXPECT_EQ(parse_value("4M"), Value(4 * kMi));
  EXPECT_EQ(parse_value("1.5KiB"), Value(1536));
  EXPECT_EQ(parse_value("0.25"), Value(0.25));
  EXPECT_EQ(parse_value("2.0"), Value(2.0));
  EXPECT_EQ(parse_value("1e6"), Value(1e6));
  EXPECT_EQ(parse_value("9223372036854775807"), Value(kMost));
  EXPECT_EQ(parse_value("-9223372036854775808"), Value(kLeast));
}

TEST(ParseValue, AllElseIsAWord) {
  for (const char* word : {"ring", "4 parsecs", "1.1K", "0x10", "1e999", "inf", "-inf", "nan", "-", "1-2",
                           "torus_2d:2x3", "9223372036854775808", "99999999999999999999"}) {
    EXPECT_EQ(parse_value(word), Value(word)) << word;
  }
  EXPECT_EQ(parse_value(R"("64")"), Value("64"));
  EXPECT_EQ(parse_value(R"(" 4M ")"), Value(" 4M "));
  EXPECT_EQ(parse_value(R"("a\"b")"), Value("a\"b"));
  EXPECT_EQ(parse_value(R"("64)"), Value("\"64"));
  EXPECT_EQ(parse_value(" a b "), Value("a b"));
  EXPECT_EQ(parse_value(""), Value(""));
}

TEST(ValueText, WhatTablesShow) {
  EXPECT_EQ(Value(4 * kMi).text(), "4194304");
  EXPECT_EQ(Value(-1).text(), "-1");
  EXPECT_EQ(Value(0.25).text(), "0.25");
  EXPECT_EQ(Value(2.0).text(), "2.0");
  EXPECT_EQ(Value(-0.0).text(), "-0.0");
  EXPECT_EQ(Value("ring").text(), "ring");
  EXPECT_EQ(Value("a,b").text(), "a,b");
  EXPECT_EQ(Value("64").text(), R"("64")");
  EXPECT_EQ(Value("4M").text(), R"("4M")");
  EXPECT_EQ(Value("1e3").text(), R"("1e3")");
  EXPECT_EQ(Value("").text(), R"("")");
  EXPECT_EQ(Value(" a").text(), R"(" a")");
  EXPECT_EQ(Value("\"").text(), R"("\"")");
}

TEST(ValueText, IsReadBackToTheSameValue) {
  constexpr std::string_view kLetters = R"("\,: 0123.-eKMx)";
  std::mt19937_64 random(3);
  for (int i = 0; i < 5000; ++i) {
    std::string word;
    for (std::size_t left = random() % 7; left > 0; --left) word += kLetters[random() % kLetters.size()];
    const auto fraction = std::bit_cast<double>(random());
    for (const Value& value :
         {Value(static_cast<std::int64_t>(random() >> (random() % 64))), Value(word),
          Value(std::isfinite(fraction) ? fraction : 0.5), Value(static_cast<double>(random() >> (random() % 64)))}) {
      EXPECT_EQ(parse_value(value.text()), value) << "seed 3, number " << i << ": " << value.text();
    }
  }
}

TEST(ParseValues, Lists) {
  EXPECT_EQ(values("8"), (Values{8}));
  EXPECT_EQ(values(" 8, 64,1K ,ring,0.5"), (Values{8, 64, 1024, "ring", 0.5}));
  EXPECT_EQ(values(R"("a,b","64","",x"y)"), (Values{"a,b", "64", "", "x\"y"}));
}

TEST(ParseValues, Ranges) {
  EXPECT_EQ(values("8:64:+8"), (Values{8, 16, 24, 32, 40, 48, 56, 64}));
  EXPECT_EQ(values("8:1K"), (Values{8, 16, 32, 64, 128, 256, 512, 1024}));
  EXPECT_EQ(values("8:100:x4"), (Values{8, 32, 100}));
  EXPECT_EQ(values("1, 4:16:x2 ,ring"), (Values{1, 4, 8, 16, "ring"}));
  EXPECT_EQ(values("8:64M:x4").size(), 13U);
  EXPECT_EQ(values("8:64M:x4").back(), Value(64 * kMi));
}

TEST(ParseValues, AColonBehindAWordIsPartOfIt) {
  EXPECT_EQ(values("torus_2d:2x3,host:80:1"), (Values{"torus_2d:2x3", "host:80:1"}));
  EXPECT_EQ(values(R"("12:30")"), (Values{"12:30"}));
}

TEST(ParseValues, TomlArrays) {
  EXPECT_EQ(values(R"([8, 0.5, "a,b", "64", true, 'unset'])"), (Values{8, 0.5, "a,b", "64", "true", "unset"}));
  EXPECT_EQ(values("[1.0]"), (Values{1.0}));
  EXPECT_EQ(values(R"( ["8:64"] )"), (Values{"8:64"}));
  expect_error("[]", "the array [] is empty");
  expect_error("[1, [2]]", "an array among its values");
  expect_error("[4M]", "saw 'M'");
  expect_error("[unset]", "'[unset]'");
}

TEST(ParseValues, Emptiness) {
  expect_error("", "the list of values is empty");
  expect_error("  ", "the list of values is empty");
  expect_error("8,,64", "'8,,64' has an empty value");
  expect_error("8,", "single commas");
}

TEST(ParseValues, RangesThatAreNone) {
  expect_error("64:8", "ends before it begins");
  expect_error("0:8", "no factor leads away from");
  expect_error("8:64:x1", "gets nowhere");
  expect_error("8:64:+0", "gets nowhere");
  expect_error("8:64:4", "neither x nor +");
  expect_error("8:64:x2:1", "more than three parts");
  expect_error("8:lots", "'lots' is not a size");
  expect_error("0.5:2", "'0.5' is not a size");
  expect_error("-4:4:+1", "it is negative");
  expect_error(":8", "cannot read ':8' as a range (in double quotes it is a word)");
  expect_error("8:", "there is nothing");
}

TEST(ParseValues, TooMuch) {
  EXPECT_EQ(values("1:65536:+1").size(), 65536U);
  expect_error("0:65536:+1", "has more than 65536 points");
  expect_error("0:9223372036854775807:+1", "has more than 65536 points");
  expect_error("1:65536:+1,1", "has more than 65536 values");
  expect_error("9223372036854775808", "more than 64 bits hold");
  expect_error("-9223372036854775809", "more than 64 bits hold");
  EXPECT_EQ(values(R"("9223372036854775808")"), (Values{"9223372036854775808"}));
}

}  // namespace
}  // namespace tutti::harness
