// SPDX-License-Identifier: Apache-2.0
// Outputs in formats that users describe themselves: regular expressions and JSON.
#include <string>

#include <gtest/gtest.h>

#include "bench/outputs/readers.hpp"
#include "find.hpp"

namespace tutti::harness {
namespace {

using testing::value_of;

Output read_pattern(const std::string& pattern, std::string_view text) {
  const Result<Reader> reader = pattern_reader(pattern);
  EXPECT_TRUE(reader.ok()) << reader.status().to_string();
  return reader.ok() ? (*reader)(text) : Output();
}

Output read_json(std::string_view time, std::string_view text) {
  const Result<Reader> reader = json_reader(time);
  EXPECT_TRUE(reader.ok()) << reader.status().to_string();
  return reader.ok() ? (*reader)(text) : Output();
}

TEST(Pattern, NamedGroupsSayWhatTheyAre) {
  const Output output = read_pattern(
      R"(^(\w+) of (?<bytes>\d+[KM]?): (?<time_ms>[0-9.]+) ms, (?P<rate>[0-9.]+) GB/s, (?:by )?(?<type>\w+) \(in\)$)",
      "start\r\nsum of 4K: 1.5 ms, 2.75 GB/s, by f32 (in)\r\nsum of 8: 2 ms, 3 GB/s, f16 (in)\r\nend\r\n");
  EXPECT_EQ(output.format, "regex");
  ASSERT_EQ(output.readings.size(), 2U);
  EXPECT_EQ(output.readings[0].bytes, 4096);
  EXPECT_DOUBLE_EQ(output.readings[0].nanos.value_or(0), 1.5e6);
  EXPECT_DOUBLE_EQ(output.readings[0].counters.at("rate"), 2.75);
  EXPECT_EQ(value_of(output.readings[0], "type"), Value("f32"));
  EXPECT_EQ(value_of(output.readings[1], "type"), Value("f16"));
}

TEST(Pattern, UnitsRanksAndPlaces) {
  const Output output =
      read_pattern("(?<time_s>\\S+) (?<num_ranks>\\d+) (?<in_place>[01]) (?<benchmark>\\w+)", "2 8 1 ring\n");
  ASSERT_EQ(output.readings.size(), 1U);
  EXPECT_DOUBLE_EQ(output.readings[0].nanos.value_or(0), 2e9);
  EXPECT_EQ(output.readings[0].num_ranks, 8);
  EXPECT_EQ(value_of(output.readings[0], "in_place"), Value(1));
  EXPECT_EQ(output.readings[0].benchmark, "ring");
}

TEST(Pattern, WhatIsNoTimeOrSizeIsSaid) {
  const Output output =
      read_pattern("t=(?<time_us>\\S*) b=(?<bytes>\\S+)|(?<what>skip)", "t=nan b=8\nt=4 b=xyz\nskip\n");
  ASSERT_EQ(output.readings.size(), 3U);
  EXPECT_NE(output.readings[0].problem.find("nan"), std::string::npos);
  EXPECT_NE(output.readings[1].problem.find("xyz"), std::string::npos);
  EXPECT_NE(output.readings[2].problem, "");
}

TEST(Pattern, MistakesAreSaidBeforeAnythingIsRead) {
  for (const char* pattern :
       {"", "[0-9]+", "(?<bytes>[0-9]+)", "(?<time_us>[0-9]+", "(?<time_us>[9-0])", "(?<time us>1)", "(?<time_us",
        "(?<time_us>1)(?<time_us>2)", "(?<time_h>1)", "\\(?<time_us>1\\)"}) {
    const Result<Reader> reader = pattern_reader(pattern);
    EXPECT_FALSE(reader.ok()) << pattern;
    EXPECT_NE(reader.status().to_string().find("time_us"), std::string::npos);
  }
}

TEST(Pattern, BracesAndEscapesAreNoGroups) {
  const Output output = read_pattern(R"([(]x\) (a)(?<time_ns>\d+))", "(x) a17\n");
  ASSERT_EQ(output.readings.size(), 1U);
  EXPECT_DOUBLE_EQ(output.readings[0].nanos.value_or(0), 17);
}

TEST(Pattern, NoPatternTakesForever) {
  const std::string line = std::string(400, 'a') + "\n";
  EXPECT_TRUE(read_pattern("(a*)*(.*?)+ (?<time_us>\\d+)", line).readings.empty());
}

TEST(Pattern, LongLinesAreLeftOut) {
  const std::string line = std::string(1'000'000, 'a') + " 5\n";
  EXPECT_TRUE(read_pattern("a* (?<time_us>\\d+)", line).readings.empty());
}

TEST(JsonOutput, OneManyOrALineEach) {
  for (const char* text :
       {R"({"time_us": 2.5, "bytes": 64, "type": "f32", "iterations": 10, "note": null, "deep": {"a": 1}})",
        "[{\"time_us\": 2.5, \"bytes\": \"64\", \"type\": \"f32\", \"iterations\": 10}]",
        "log line\n{\"time_us\": 2.5, \"bytes\": 64, \"type\": \"f32\", \"iterations\": 10}\nmore\n",
        R"({"context": {"x": 1}, "rows": [{"time_ns": 2500, "bytes": 64, "type": "f32", "iterations": 10}]})"}) {
    const Output output = read_json("", text);
    EXPECT_EQ(output.format, "json");
    ASSERT_EQ(output.readings.size(), 1U) << text;
    EXPECT_DOUBLE_EQ(output.readings[0].nanos.value_or(0), 2500) << text;
    EXPECT_EQ(output.readings[0].bytes, 64) << text;
    EXPECT_EQ(value_of(output.readings[0], "type"), Value("f32"));
    EXPECT_EQ(output.readings[0].counters, (std::map<std::string, double>{{"iterations", 10}}));
  }
}

TEST(JsonOutput, TheTimesKeyCanBeNamed) {
  const Output output = read_json("real_time:ms", R"({"benchmarks": [{"name": "a", "real_time": 3, "time_us": 9}]})");
  ASSERT_EQ(output.readings.size(), 1U);
  EXPECT_DOUBLE_EQ(output.readings[0].nanos.value_or(0), 3e6);
  EXPECT_DOUBLE_EQ(output.readings[0].counters.at("time_us"), 9);
  EXPECT_DOUBLE_EQ(read_json("wall_s", R"({"wall_s": 2})").readings.at(0).nanos.value_or(0), 2e9);
  for (const char* time : {"wall", "wall:h", ":us", ":", "wall_"}) EXPECT_FALSE(json_reader(time).ok()) << time;
}

TEST(JsonOutput, RowsWithoutATimeAndWhatIsNoRow) {
  const Output output = read_json("", R"([{"time_us": 1}, {"bytes": 8}, 5, {"time_us": "nan"}, {"time_us": true}])");
  ASSERT_EQ(output.readings.size(), 4U);
  EXPECT_NE(output.readings[1].problem, "");
  EXPECT_NE(output.readings[2].problem, "");
  EXPECT_NE(output.readings[3].problem, "");
  EXPECT_EQ(output.num_unread, 1U);
  // Cut off.
  EXPECT_EQ(read_json("", "{\"time_us\": 1}\n{\"time_us\": 2, \"by").num_unread, 1U);
  EXPECT_FALSE(read_json("", "{\"rows\": [{\"bytes\": 8}]}").is_recognised());
}

}  // namespace
}  // namespace tutti::harness
