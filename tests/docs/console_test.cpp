// SPDX-License-Identifier: Apache-2.0
// The comparison of shown and printed output, on texts made up for it.
#include "console.hpp"

#include <gtest/gtest.h>

namespace tutti::docs {
namespace {

TEST(Console, ReadsCommandsAndTheirOutput) {
  const std::vector<Shown> all = console_commands(
      "# Title\n```sh\n$ not this\n```\n```console\n$ tutti run \\\n    --json\none\ntwo\n$ tutti list\n```\ntext\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].command, "tutti run     --json");
  EXPECT_EQ(all[0].output, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(all[0].line, 6U);
  EXPECT_EQ(all[1].command, "tutti list");
  EXPECT_TRUE(all[1].output.empty());
}

TEST(Console, NumbersBlanksAndVerdictsAreFree) {
  EXPECT_EQ(shape_of("all_reduce   2   0.135  slower  0.267-0.310"), shape_of("all_reduce 16 1.2e-3  same   1-2"));
  EXPECT_EQ(shape_of("ring  -  12 *"), shape_of("ring  13  =  7"));
  EXPECT_EQ(shape_of("against tutti: 3 slower"), shape_of("against tutti: 1 same, 2 slower, 1 undecided"));
  EXPECT_EQ(shape_of("run 5 in 3 ms"), shape_of("run 12 in 0.5 ms"));
}

TEST(Console, WordsAndDigitsWithinWordsAreNotFree) {
  EXPECT_NE(shape_of("time_us  p99_us"), shape_of("time_us  p95_us"));
  EXPECT_NE(shape_of("bytes  time_us"), shape_of("bytes  time_ns"));
  EXPECT_NE(shape_of("type f32"), shape_of("type f64"));
}

TEST(Console, DotsStandForAnyLines) {
  EXPECT_EQ(difference({"a", "...", "d"}, {"a", "b", "c", "d"}), "");
  EXPECT_EQ(difference({"a", "...", "b"}, {"a", "b"}), "");
  EXPECT_EQ(difference({"..."}, {"a", "b"}), "");
  EXPECT_EQ(difference({"..."}, {}), "");
}

TEST(Console, NotesAndTheStoreAreLeftOut) {
  const std::vector<std::string> noted{"bytes  time_us  note", "8          1.2  tutti: 12 % outliers",
                                       "                more", "run 3 in /tmp/results.db", "against tutti: 1 same"};
  EXPECT_EQ(stable_lines(noted),
            (std::vector<std::string>{"bytes  time_us", "8          1.2", "against tutti: 1 same"}));
  EXPECT_EQ(difference({"bytes  time_us", "16  3", "against tutti: 1 slower"}, noted), "");
  EXPECT_NE(difference({"bytes  took_us", "16  3", "against tutti: 1 slower"}, noted), "");
}

TEST(Console, NotesAndMarksOfComparisonsAreFree) {
  const std::vector<std::string> shown{"bytes  tutti     other    tutti is", "8  131 ns *  1.2 us  9.2x faster",
                                       "* is the fastest"};
  const std::vector<std::string> printed{"bytes  tutti     other    tutti is", "8  1.1 us *  1.2 us =  1.1x undecided",
                                         "* is the fastest, = is not told apart from it",
                                         "note: 8: 12 % outliers, and more that", "      goes on here"};
  EXPECT_EQ(difference(shown, printed), "");
}

TEST(Console, ColumnsBehindTheMedianMayBeLeftOut) {
  const std::string left_out = "left out: samples, ran; --wide shows them";
  const std::vector<std::string> shown{"ranks  time_us  min_us  samples", "    2      1.5     1.2       40",
                                       "left out: ran; --wide shows them"};
  const std::vector<std::string> printed{"ranks  time_us  min_us  note", "    2     1.75     1.2     1", "note 1: busy",
                                         left_out};
  EXPECT_EQ(difference(shown, printed), "");
  EXPECT_NE(difference(shown, {"ranks  time_us  min_us", "    2      1.5     1.2"}), "");
  EXPECT_NE(difference(shown, {"ranks  time_us  p99_us", "    2      1.5     1.2", left_out}), "");
  EXPECT_NE(difference(shown, {"ranks  bytes  time_us  min_us", "    2      8      1.5     1.2", left_out}), "");
}

TEST(Console, MissingChangedAndAdditionalLinesDiffer) {
  EXPECT_EQ(difference({"a", "b"}, {"a"}), "not printed: b");
  EXPECT_EQ(difference({"bytes  time_us"}, {"bytes  took_us"}), "shown:   bytes  time_us\nprinted: bytes  took_us");
  EXPECT_EQ(difference({"a"}, {"a", "b"}), "printed, and not shown: b");
  EXPECT_EQ(difference({"...", "b", "a"}, {"a", "b"}), "not printed: a");
}

}  // namespace
}  // namespace tutti::docs
