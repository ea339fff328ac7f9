// SPDX-License-Identifier: Apache-2.0
#include "base/variables/conf.hpp"

#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temporary_folder.hpp"

namespace tutti {
namespace {

using Lines = std::vector<ConfLine>;

Lines good(std::string_view text) {
  const ConfContents contents = parse_conf(text, "t.conf");
  EXPECT_TRUE(contents.errors.empty()) << contents.errors.front();
  return contents.lines;
}

std::string value_of(std::string_view text) {
  const Lines lines = good("A = " + std::string(text));
  return lines.size() == 1 ? lines[0].value : "not one line";
}

std::string error(std::string_view text) {
  const ConfContents contents = parse_conf(text, "t.conf");
  EXPECT_EQ(contents.errors.size(), 1U);
  return contents.errors.empty() ? "" : contents.errors.front();
}

TEST(Conf, NamesValuesCommentsAndEmptyLines) {
  EXPECT_EQ(good("# comment\n\n A=1\n\tB_2 =  two words \r\n  # more = less\n_c = x=y"),
            (Lines{{"A", "1", 3}, {"B_2", "two words", 4}, {"_c", "x=y", 6}}));
  EXPECT_EQ(good(""), Lines{});
  EXPECT_EQ(good("\n"), Lines{});
  EXPECT_EQ(good("\xEF\xBB\xBF"
                 "A=1\n"),
            (Lines{{"A", "1", 1}}));
}

TEST(Conf, ValuesPlainAndQuoted) {
  EXPECT_EQ(value_of(""), "");
  EXPECT_EQ(value_of("# comment"), "");
  EXPECT_EQ(value_of("4M # comment"), "4M");
  EXPECT_EQ(value_of("4M\t# comment # more"), "4M");
  EXPECT_EQ(value_of("a#b"), "a#b");
  EXPECT_EQ(value_of("a#b #c"), "a#b");
  EXPECT_EQ(value_of("\" a # b \""), " a # b ");
  EXPECT_EQ(value_of("\"\""), "");
  EXPECT_EQ(value_of("\"a\"# comment"), "a");
  EXPECT_EQ(value_of("say \"a\""), "say \"a\"");
  EXPECT_EQ(value_of("\xC2\xB5"), "\xC2\xB5");
}

TEST(Conf, MalformedLinesNameFileLineFoundAndExpected) {
  EXPECT_EQ(error("A=1\nnonsense\n"), "t.conf:2: found 'nonsense', expected NAME = value");
  EXPECT_EQ(error("=1"), "t.conf:1: found '' and more, expected NAME = value");
  EXPECT_EQ(error("1A=1"), "t.conf:1: found '1A' and more, expected NAME = value");
  EXPECT_EQ(error("A B=1"), "t.conf:1: found 'A' and more, expected NAME = value");
  EXPECT_EQ(error("A=\"x"), "t.conf:1: A: the quote is not closed; end the value with \"");
  EXPECT_NE(error("A=\"x\" y").find("something follows the closing quote"), std::string::npos);
}

TEST(Conf, MalformedLinesShowNoValues) {
  EXPECT_EQ(error("TUTTI_UNIQUE_ID hunter2").find("hunter2"), std::string::npos);
  EXPECT_EQ(error("TUTTI_UNIQUE_ID: hunter2").find("hunter2"), std::string::npos);
}

TEST(Conf, SameNameTwiceNamesBothLines) {
  const ConfContents contents = parse_conf("A=1\nB=2\nA=1\n", "t.conf");
  EXPECT_EQ(contents.errors, std::vector<std::string>{"t.conf:3: A is set a second time, after line 1; keep one"});
  EXPECT_EQ(contents.lines, (Lines{{"A", "1", 1}, {"B", "2", 2}}));
}

TEST(Conf, GarbageIsNamedAndNotEchoed) {
  EXPECT_EQ(error("A=\xFF\xFE"), "t.conf:1: the line is not UTF-8 text");
  EXPECT_EQ(error("# \xC0\xAF"), "t.conf:1: the line is not UTF-8 text");
  EXPECT_EQ(error(std::string_view("A=\0b", 4)), "t.conf:1: the line holds a control character");
  EXPECT_EQ(error("A=\x1b[2J"), "t.conf:1: the line holds a control character");
}

TEST(Conf, OtherLinesStandBesideAWrongOneAndErrorsAreCapped) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "wrong\n";
  text += "A=1\n";
  const ConfContents contents = parse_conf(text, "t.conf");
  EXPECT_EQ(contents.lines, (Lines{{"A", "1", 1001}}));
  EXPECT_EQ(contents.errors.size(), 21U);
  EXPECT_EQ(contents.errors.back(), "t.conf:21: and more; is this a tutti.conf?");
}

// What was taken is well-formed, whatever the bytes were.
TEST(Conf, RandomBytesYieldOnlyWellFormedLines) {
  constexpr std::string_view kAlphabet = "Aa1_=\"# \t\r\n\xC2\xB5\xFF";
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = kAlphabet[random() % kAlphabet.size()];
    for (const ConfLine& line : parse_conf(text, "t.conf").lines) {
      EXPECT_FALSE(line.name.empty()) << text;
      EXPECT_EQ(line.name.find_first_of("=\"# \t\r\n"), std::string::npos) << text;
      EXPECT_EQ(line.value.find('\n'), std::string::npos) << text;
      EXPECT_GE(line.number, 1);
    }
  }
}

TEST(Conf, ManyNamesAreReadInTime) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += fmt::format("N{}=1\n", i);
  EXPECT_EQ(good(text).size(), 100'000U);
}

class ReadConf : public ::testing::Test {
 protected:
  [[nodiscard]] static std::string failure(const std::string& path) {
    const Result<std::optional<std::string>> result = read_conf(path);
    EXPECT_FALSE(result.ok());
    return result.status().to_string();
  }
  test::TemporaryFolder folder_;
};

TEST_F(ReadConf, AFileAndNoFile) {
  EXPECT_EQ(**read_conf(folder_.write("a.conf", "A=1\n")), "A=1\n");
  EXPECT_EQ(**read_conf(folder_.write("empty.conf", "")), "");
  EXPECT_EQ(**read_conf("/dev/null"), "");
  EXPECT_FALSE(read_conf(folder_.file("missing.conf")).value().has_value());
  EXPECT_FALSE(read_conf(folder_.file("a.conf/below")).value().has_value());
}

TEST_F(ReadConf, WhatIsNotAFileIsRefused) {
  EXPECT_EQ(failure(folder_.path()), "cannot read '" + folder_.path() + "': Is a directory");
  ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  EXPECT_NE(failure(folder_.file("pipe")).find("not a regular file"), std::string::npos);
}

TEST_F(ReadConf, AnUnreadableFileSaysWhy) {
  const std::string loop = folder_.file("loop");
  ASSERT_EQ(::symlink(loop.c_str(), loop.c_str()), 0);
  EXPECT_NE(failure(loop).find("Too many levels of symbolic links"), std::string::npos);
  if (::geteuid() == 0) return;  // whom permissions do not stop
  const std::string path = folder_.write("secret.conf", "A=1\n");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  EXPECT_EQ(failure(path), "cannot read '" + path + "': Permission denied");
}

TEST_F(ReadConf, HugeFilesAreRefused) {
  EXPECT_TRUE(read_conf(folder_.write("just.conf", std::string(kConfGreatestBytes, '#'))).ok());
  const std::string path = folder_.write("huge.conf", std::string(kConfGreatestBytes + 1, '#'));
  EXPECT_NE(failure(path).find("larger than 1048576 bytes"), std::string::npos);
  EXPECT_NE(failure("/dev/zero").find("larger than"), std::string::npos);
}

}  // namespace
}  // namespace tutti
