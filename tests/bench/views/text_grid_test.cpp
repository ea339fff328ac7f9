// SPDX-License-Identifier: Apache-2.0
#include "bench/views/text_grid.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

TextGrid sample() {
  TextGrid grid({{.right = true}, {}, {.gap = 1}, {.right = true}});
  grid.add_row({{"n"}, {"a long heading", Tone::plain, 2}, {"x"}});
  grid.add_line("group:");
  grid.add_row({{"8"}, {"2.8×", Tone::bold}, {"[2, 3]", Tone::faint}, {"1"}});
  grid.add_row({{"1024"}, {"12×"}});
  return grid;
}

TEST(TextGridTest, ColumnsLineUpByCharactersAndHeadingsMaySpanThem) {
  EXPECT_EQ(sample().render({}),
            "   n  a long heading  x\n"
            "group:\n"
            "   8  2.8× [2, 3]     1\n"
            "1024  12×\n");
  EXPECT_EQ(sample().width(), 23U);
}

TEST(TextGridTest, TonesAreEscapeSequencesOnlyWhereTheyAreWanted) {
  const std::string text = sample().render({.is_terminal = true, .has_tones = true});
  EXPECT_NE(text.find("   8  \x1b[1m2.8×\x1b[0m \x1b[2m[2, 3]\x1b[0m     1\n"), std::string::npos) << text;
  EXPECT_EQ(sample().render({.is_terminal = true}), sample().render({}));
}

TEST(TextGridTest, LongLinesAreCutOnATerminalOnly) {
  EXPECT_EQ(sample().render({.width = 10, .is_terminal = true}),
            "   n  a l…\n"
            "group:\n"
            "   8  2.8…\n"
            "1024  12×\n");
  EXPECT_EQ(sample().render({.width = 10}), sample().render({}));
}

TEST(TextGridTest, AColumnWithoutTextTakesNoRoom) {
  TextGrid grid(std::vector<GridColumn>(3));
  grid.add_row({{"a"}, {""}, {"b"}});
  EXPECT_EQ(grid.render({}), "a  b\n");
}

TEST(TextGridTest, ControlCharactersAreNotObeyed) {
  TextGrid grid(std::vector<GridColumn>(1));
  grid.add_row({{"\x1b[2J"}});
  EXPECT_EQ(grid.render({.is_terminal = true, .has_tones = true}), "\\x1b[2J\n");
}

TEST(TextGridTest, ParagraphsAreBrokenAtBlanks) {
  EXPECT_EQ(paragraph("one two three", {.width = 8}, 2), "one two\n  three\n");
  EXPECT_EQ(paragraph("a_word_that_is_longer b", {.width = 8}, 2), "a_word_that_is_longer\n  b\n");
}

}  // namespace
}  // namespace tutti
