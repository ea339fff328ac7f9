// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/toml_array.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/axes/list_text.hpp"

namespace tutti::harness {
namespace {

TomlArray array(std::string_view text, UnsetWord unset = UnsetWord::refused) {
  const Result<TomlArray> result = parse_toml_array(text, unset);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? *result : TomlArray{};
}

std::string refusal_of(std::string_view text, UnsetWord unset = UnsetWord::refused) {
  const Result<TomlArray> result = parse_toml_array(text, unset);
  EXPECT_FALSE(result.ok()) << text;
  return result.status().to_string();
}

TomlValue word(std::string text) { return {std::move(text)}; }
TomlValue number(std::int64_t value) { return {value}; }
const TomlValue kTomlUnset{BareUnset()};

TEST(TomlArray, EveryKindOfValue) {
  EXPECT_EQ(array(R"([8, -16, 0x10, 0.5, true, false, "a,b", 'c\d', [1, []]])"),
            (TomlArray{number(8),
                       number(-16),
                       number(16),
                       {0.5},
                       {true},
                       {false},
                       word("a,b"),
                       word(R"(c\d)"),
                       {TomlArray{number(1), {TomlArray{}}}}}));
  EXPECT_EQ(array("[]"), TomlArray{});
  EXPECT_EQ(array("[1,\n2, # two\n]  # done"), (TomlArray{number(1), number(2)}));
}

TEST(TomlArray, OneArrayAndNothingElse) {
  EXPECT_NE(refusal_of("[1]\ny = 2").find("something follows"), std::string::npos);
  EXPECT_NE(refusal_of("8").find("does not begin with ["), std::string::npos);
  for (const char* text : {"", "[1", "[1]]", "[1] [2]", "[1 2]", "[1,,2]", "[a]", "[\"a]", "[\xFF]", "[\"\x01\"]"}) {
    refusal_of(text);
  }
}

TEST(TomlArray, WhatIsNoValueHere) {
  EXPECT_NE(refusal_of("[{a = 1}]").find("a table"), std::string::npos);
  EXPECT_NE(refusal_of("[1979-05-27]").find("a date"), std::string::npos);
  EXPECT_NE(refusal_of("[07:32:00]").find("a date or a time"), std::string::npos);
  EXPECT_NE(refusal_of("[inf]").find("inf or nan"), std::string::npos);
  EXPECT_NE(refusal_of("[[1, -nan]]").find("inf or nan"), std::string::npos);
  EXPECT_NE(refusal_of("[9223372036854775808]").find("64 bits"), std::string::npos);
}

TEST(TomlArray, AMessageSaysWhereAndWhatIsRight) {
  const std::string message = refusal_of("[8, 4M]");
  EXPECT_NE(message.find("'[8, 4M]'"), std::string::npos) << message;
  EXPECT_NE(message.find("saw 'M' (character 6)"), std::string::npos) << message;
  EXPECT_NE(message.find("write words in quotes"), std::string::npos) << message;
  EXPECT_NE(refusal_of("[8,\n4M]").find("line 2, character 2"), std::string::npos);
  EXPECT_NE(refusal_of("[unset, 4M]", UnsetWord::allowed).find("character 10"), std::string::npos);
}

TEST(TomlArray, BareUnsetWhereItIsAllowed) {
  EXPECT_EQ(array("[unset,1,[ unset ]]", UnsetWord::allowed),
            (TomlArray{kTomlUnset, number(1), {TomlArray{kTomlUnset}}}));
  refusal_of("[unset]");
  for (const char* text : {"[unset_x]", "[xunset]", "[unset unset]", "[unset=1]", "[-unset]", "[Unset]"}) {
    refusal_of(text, UnsetWord::allowed);
  }
  // Whatever stands for it on the way to the parser cannot be written.
  for (const char* text : {"[{u=0}]", "[{}]", "[unset, {u=0}]"}) {
    EXPECT_NE(refusal_of(text, UnsetWord::allowed).find("a table"), std::string::npos) << text;
  }
}

TEST(TomlArray, UnsetInQuotesOrCommentsIsLeftAlone) {
  const auto same = [](std::string_view text, const std::string& expected) {
    EXPECT_EQ(array(text, UnsetWord::allowed), (TomlArray{word(expected), kTomlUnset})) << text;
  };
  same(R"(["unset", unset])", "unset");
  same(R"(['unset', unset])", "unset");
  same(R"(["a\" unset", unset])", "a\" unset");
  same(R"(['a\', unset])", "a\\");
  same(R"(["\\", unset])", "\\");
  same(R"(["""a " unset""", unset])", "a \" unset");
  same(R"(["""unset"""", unset])", "unset\"");
  same(R"(["""unset""""", unset])", "unset\"\"");
  same(R"(['''it's unset''', unset])", "it's unset");
  same(R"(["", unset])", "");
  same("[\"{\", # unset {\n unset]", "{");
}

TEST(TomlArray, NoMoreValuesThanAnybodyMeans) {
  std::string text = "[";
  for (std::size_t i = 0; i < kMostValues; ++i) text += "1,";
  EXPECT_EQ(array(text + "]").size(), kMostValues);
  EXPECT_NE(refusal_of(text + "1]").find(fmt::format("more than {} values", kMostValues)), std::string::npos);
  refusal_of(std::string(100'000, '['));
}

}  // namespace
}  // namespace tutti::harness
