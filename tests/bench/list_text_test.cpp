// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/list_text.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

std::vector<ListItem> items(std::string_view text) {
  const Result<std::vector<ListItem>> result = split_list(text);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? *result : std::vector<ListItem>{};
}

std::string error(std::string_view text) {
  const Result<std::vector<ListItem>> result = split_list(text);
  EXPECT_FALSE(result.ok()) << text;
  return result.status().to_string();
}

using Items = std::vector<ListItem>;

TEST(ListText, CommasAreBetweenItems) {
  EXPECT_EQ(items("a"), (Items{{"a"}}));
  EXPECT_EQ(items(" a , b c,d\t"), (Items{{"a"}, {"b c"}, {"d"}}));
  EXPECT_EQ(items(""), (Items{{""}}));
  EXPECT_EQ(items("a,,"), (Items{{"a"}, {""}, {""}}));
}

TEST(ListText, QuotesHoldWhatIsBetweenThem) {
  EXPECT_EQ(items(R"("a,b" , " c ","")"), (Items{{"a,b", true}, {" c ", true}, {"", true}}));
  EXPECT_EQ(items(R"("say \"a\"","\\","C:\x")"), (Items{{R"(say "a")", true}, {R"(\)", true}, {R"(C:\x)", true}}));
  EXPECT_EQ(items(R"(5"disk,{"k":1})"), (Items{{R"(5"disk)"}, {R"({"k":1})"}}));
}

TEST(ListText, BadQuotesAreNamed) {
  EXPECT_NE(error(R"(a,"b)").find(R"('"b' in 'a,"b' is not closed)"), std::string::npos) << error(R"(a,"b)");
  EXPECT_NE(error(R"("a\")").find("not closed"), std::string::npos);
  EXPECT_NE(error(R"("a" b,c)").find("'b' follows a closed quote"), std::string::npos);
}

TEST(ListText, NoMoreItemsThanAnybodyMeans) {
  EXPECT_EQ(items(std::string(kMostValues - 1, ',')).size(), kMostValues);
  EXPECT_NE(error(std::string(kMostValues, ',')).find("more than 65536 values"), std::string::npos);
}

TEST(ListText, QuotesAreReadBack) {
  EXPECT_EQ(with_quotes(R"(a"b\)"), R"("a\"b\\")");
  EXPECT_EQ(without_quotes(R"("a")"), "a");
  EXPECT_EQ(without_quotes("a"), std::nullopt);
  EXPECT_EQ(without_quotes("\""), std::nullopt);
  EXPECT_EQ(without_quotes(R"("a"b")"), std::nullopt);
  EXPECT_EQ(without_quotes(""), std::nullopt);
  constexpr std::string_view kLetters = R"("\a, )";
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (std::size_t left = random() % 8; left > 0; --left) text += kLetters[random() % kLetters.size()];
    EXPECT_EQ(without_quotes(with_quotes(text)), text) << "seed 1, number " << i;
    EXPECT_EQ(items(with_quotes(text) + ",x"), (Items{{text, true}, {"x"}})) << "seed 1, number " << i;
  }
}

}  // namespace
}  // namespace tutti::harness
