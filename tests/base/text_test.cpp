// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Text, TrimTakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \ta b\r "), "a b");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("\na"), "\na");
}

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a, b,,c", ','), (std::vector<std::string_view>{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split("a,", ','), (std::vector<std::string_view>{"a", ""}));
}

TEST(Text, NamesAreTheSameWithHyphenUnderscoreAndCase) {
  EXPECT_TRUE(same_name("one-shot", "One_Shot"));
  EXPECT_FALSE(same_name("one-shot", "oneshot"));
  EXPECT_FALSE(same_name("one", "ones"));
  EXPECT_TRUE(same_name("", ""));
}

TEST(Text, EditDistanceCountsEachKindOfEdit) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("debug", "debug"), 0U);
  EXPECT_EQ(edit_distance("debug", "debig"), 1U);
  EXPECT_EQ(edit_distance("debug", "debugs"), 1U);
  EXPECT_EQ(edit_distance("debug", "dbug"), 1U);
  EXPECT_EQ(edit_distance("debug", "dbeug"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ONE-SHOT", "one_shot"), 0U);
}

TEST(Text, NearestIsTheFirstOfTheLeast) {
  constexpr std::array<std::string_view, 3> kNames{"variables", "prove", "probe"};
  EXPECT_EQ(nearest_name("varables", kNames), "variables");
  EXPECT_EQ(nearest_name("prope", kNames), "prove");
  EXPECT_EQ(nearest_name("prob", kNames), "probe");
  EXPECT_EQ(nearest_name("rpove", kNames), "prove");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(Text, OnlyATypoIsNear) {
  constexpr std::array<std::string_view, 4> kNames{"demo", "--read", "ring", "recursive_multiplying"};
  EXPECT_EQ(nearest_name("help", kNames), "");
  EXPECT_EQ(nearest_name("--rnaks", kNames), "");
  EXPECT_EQ(nearest_name("x", kNames), "");
  EXPECT_EQ(nearest_name("rabenseifner_multiplying", kNames), "");
  EXPECT_EQ(nearest_hint("help", kNames), "");
  EXPECT_EQ(nearest_hint("rnig", kNames), "; the nearest is 'ring'");
  EXPECT_EQ(nearest_hint("recursve_multipling", kNames), "; the nearest is 'recursive_multiplying'");
}

TEST(Text, FindsTheFirstByteThatIsNotUtf8) {
  EXPECT_EQ(first_invalid_utf8("plain \xC2\xB5 \xE2\x82\xAC \xF0\x9F\x8E\xBC"), std::string_view::npos);
  EXPECT_EQ(first_invalid_utf8("ab\xFF"), 2U);
  EXPECT_EQ(first_invalid_utf8("\x80"), 0U);              // a continuation without a beginning
  EXPECT_EQ(first_invalid_utf8("a\xC2"), 1U);             // cut short
  EXPECT_EQ(first_invalid_utf8("a\xE2\x82"), 1U);         // cut short
  EXPECT_EQ(first_invalid_utf8("\xC0\xAF"), 0U);          // longer than it need be
  EXPECT_EQ(first_invalid_utf8("\xE0\x80\xAF"), 0U);      // longer than it need be
  EXPECT_EQ(first_invalid_utf8("\xF0\x80\x80\xAF"), 0U);  // longer than it need be
  EXPECT_EQ(first_invalid_utf8("\xED\xA0\x80"), 0U);      // half of a surrogate pair
  EXPECT_EQ(first_invalid_utf8("\xF4\x90\x80\x80"), 0U);  // beyond U+10FFFF
  EXPECT_EQ(first_invalid_utf8("\xF5\x80\x80\x80"), 0U);
}

TEST(Text, PrintableEscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[31m\n\x7f"), "a\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b");  // CSI as one character
  EXPECT_EQ(printable("\xFF\xC2\xB5s"), "\\xff\xC2\xB5s");
}

TEST(Text, QuotesAreCutBetweenCharacters) {
  EXPECT_EQ(in_quotes("4 parsecs"), "'4 parsecs'");
  EXPECT_EQ(in_quotes(std::string(80, 'a')), "'" + std::string(80, 'a') + "'");
  EXPECT_EQ(in_quotes(std::string(81, 'a')), "'" + std::string(80, 'a') + "...' (81 bytes)");
  const std::string micro = std::string(79, 'a') + "\xC2\xB5";
  EXPECT_EQ(in_quotes(micro), "'" + std::string(79, 'a') + "...' (81 bytes)");
}

}  // namespace
}  // namespace tutti
