// SPDX-License-Identifier: Apache-2.0
#include "bench/views/table.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "bench/results/decimal.hpp"

namespace tutti::cli {
namespace {

Table sample() {
  Table table({{"name"}, {"bytes"}, {"us"}});
  table.add_row({"ring", std::int64_t{1024}, 2.5});
  table.add_row({"one_shot", std::int64_t{8}, Cell()});
  return table;
}

TEST(Table, AlignsNumbersRightAndTextLeft) {
  EXPECT_EQ(to_aligned(sample()),
            "name      bytes   us\n"
            "ring       1024  2.5\n"
            "one_shot      8    -\n");
}

TEST(Table, ColumnsOfTextKeepNullAtTheLeft) {
  Table table({{"name"}, {"value"}});
  table.add_row({"a", "text"});
  table.add_row({"b", Cell()});
  EXPECT_EQ(to_aligned(table), "name  value\na     text\nb     -\n");
}

TEST(Table, WidthCountsCharactersNotBytes) {
  Table table({{"unit"}, {"x"}});
  table.add_row({"\xC2\xB5s", "1"});
  table.add_row({"ms", "2"});
  EXPECT_EQ(to_aligned(table), "unit  x\n\xC2\xB5s    1\nms    2\n");
}

TEST(Table, WrapsAtBlanks) {
  Table table({{"name"}, {"meaning", 10}});
  table.add_row({"a", "one two three averyveryverylongword end"});
  EXPECT_EQ(to_aligned(table),
            "name  meaning\n"
            "a     one two\n"
            "      three\n"
            "      averyveryverylongword\n"
            "      end\n");
}

TEST(Table, WrapsHeadingsBehindUnderscores) {
  Table table({{"name"}, {"blocks_sent_out", 8}, {"meaning", 10}});
  table.add_row({"a_long_name", 1.25, "some_name_that_is_long"});
  EXPECT_EQ(to_aligned(table),
            "name          blocks_  meaning\n"
            "             sent_out\n"
            "a_long_name      1.25  some_name_that_is_long\n");
}

TEST(Table, ColumnsAsideAreInTheDataOnly) {
  Table table({{"name"}, {"ranks", 0, true}, {"bytes"}});
  table.add_row({"ring", "1-33", Cell()});
  table.add_row({"ring", "1-33", std::int64_t{8}});
  EXPECT_EQ(to_aligned(table), "name  bytes\nring      -\nring      8\n");
  EXPECT_EQ(to_csv(table), "name,ranks,bytes\nring,1-33,\nring,1-33,8\n");
  EXPECT_NE(to_json(table).find("1-33"), std::string::npos);
}

TEST(Table, EscapesWhatATerminalWouldObey) {
  Table table({{"n\x1bme"}});
  table.add_row({"a\x1b[2J\nb"});
  EXPECT_EQ(to_aligned(table), "n\\x1bme\na\\x1b[2J\\x0ab\n");
}

TEST(Table, CsvTellsNullFromEmptyAndQuotes) {
  Table table({{"a"}, {"b,c"}, {"d"}});
  table.add_row({Cell(), std::string(), true});
  table.add_row({"say \"x\"", "1,2", std::int64_t{0}});
  table.add_row({"two\nlines", -1.5, false});
  EXPECT_EQ(to_csv(table),
            "a,\"b,c\",d\n"
            ",\"\",true\n"
            "\"say \"\"x\"\"\",\"1,2\",0\n"
            "\"two\nlines\",-1.5,false\n");
}

TEST(Table, PeopleReadTheDigitsOfAColumnAndMachinesAll) {
  Table table({{"exact"}, {.name = "us", .wrap_at = 0, .is_aside = false, .digits = 4}});
  const double noisy = 332.00000000000006;
  table.add_row({noisy, 1041.2});
  table.add_row({0.1 + 0.2, 12345678.9});
  table.add_row({17179869184.5, 0.0});
  EXPECT_EQ(to_aligned(table),
            "      exact        us\n"
            "        332      1041\n"
            "        0.3  12350000\n"
            "17179869180         0\n");
  EXPECT_EQ(to_markdown(table),
            "| exact | us |\n| --- | --- |\n| 332 | 1041 |\n| 0.3 | 12350000 |\n| 17179869180 | 0 |\n");
  EXPECT_EQ(to_csv(table), "exact,us\n332.00000000000006,1041.2\n0.30000000000000004,12345678.9\n17179869184.5,0\n");
  const std::string json = to_json(table);
  EXPECT_NE(json.find("\"exact\": 332.00000000000006,\n    \"us\": 1041.2\n"), std::string::npos) << json;
  EXPECT_NE(json.find("\"us\": 12345678.9\n"), std::string::npos) << json;
}

// Unset, empty, a word, a word that reads like another, and a row that the variable does not concern.
TEST(Table, VariablesAreUnsetOrEmptyOrAWord) {
  Table table({{"X"}, {"n"}});
  table.add_row({VariableCell{}, std::int64_t{1}});
  table.add_row({VariableCell{""}, std::int64_t{2}});
  table.add_row({VariableCell{"a"}, std::int64_t{3}});
  table.add_row({VariableCell{"unset"}, std::int64_t{4}});
  table.add_row({Cell(), std::int64_t{5}});
  EXPECT_EQ(to_aligned(table), "X        n\nunset    1\n\"\"       2\na        3\n\"unset\"  4\n-        5\n");
  EXPECT_EQ(to_csv(table), "X,n\nunset,1\n\"\",2\na,3\n\"\"\"unset\"\"\",4\n,5\n");
  EXPECT_EQ(to_json(table),
            "[\n  {\n    \"X\": null,\n    \"n\": 1\n  },\n  {\n    \"X\": \"\",\n    \"n\": 2\n  },\n"
            "  {\n    \"X\": \"a\",\n    \"n\": 3\n  },\n  {\n    \"X\": \"unset\",\n    \"n\": 4\n  },\n"
            "  {\n    \"n\": 5\n  }\n]\n");
}

TEST(Decimal, ShortFiguresStayShortInOtherUnits) {
  EXPECT_NE(1.005 * 1000, 1005) << "which is why";
  EXPECT_EQ(harness::times_power_of_ten(1.005, 1e3), 1005);
  EXPECT_EQ(harness::times_power_of_ten(0.000332, 1e9), 332000);
  EXPECT_EQ(harness::over_power_of_ten(1041200, 1e3), 1041.2);
  for (int tenths = 1; tenths < 10'000; ++tenths) {
    const double micros = tenths / 10.0;
    ASSERT_EQ(harness::over_power_of_ten(harness::times_power_of_ten(micros, 1e3), 1e3), micros);
  }
  const double third = 1.0 / 3;
  EXPECT_EQ(harness::times_power_of_ten(third, 1e3), third * 1e3) << "what is no short figure loses no digit";
}

TEST(Table, JsonKeepsTypesAndOrderAndNull) {
  Table table({{"z"}, {"a"}, {"n"}, {"f"}, {"b"}});
  table.add_row({"\"\n", std::int64_t{9007199254740993}, Cell(), 0.1, false});
  EXPECT_EQ(to_json(table),
            "[\n  {\n    \"z\": \"\\\"\\n\",\n    \"a\": 9007199254740993,\n    \"n\": null,\n    \"f\": 0.1,\n"
            "    \"b\": false\n  }\n]\n");
  EXPECT_EQ(to_json(Table({{"a"}})), "[]\n");
}

TEST(Table, JsonHasNoFormForNanAndReplacesWhatIsNotUtf8) {
  Table table({{"a"}, {"b"}});
  table.add_row({std::numeric_limits<double>::quiet_NaN(), "\xFF"});
  EXPECT_EQ(to_json(table), "[\n  {\n    \"a\": null,\n    \"b\": \"\xEF\xBF\xBD\"\n  }\n]\n");
}

TEST(Table, MarkdownEscapesBars) {
  Table table({{"a"}, {"b"}});
  table.add_row({"x|y\\z", Cell()});
  table.add_row({"1\n2", std::int64_t{3}});
  EXPECT_EQ(to_markdown(table), "| a | b |\n| --- | --- |\n| x\\|y\\\\z | - |\n| 1<br>2 | 3 |\n");
}

TEST(Table, RenderFollowsTheFormat) {
  EXPECT_EQ(render(sample(), Format::table), to_aligned(sample()));
  EXPECT_EQ(render(sample(), Format::csv), to_csv(sample()));
  EXPECT_EQ(render(sample(), Format::json), to_json(sample()));
  EXPECT_EQ(render(sample(), Format::md), to_markdown(sample()));
  EXPECT_EQ(format_from_name("md"), Format::md);
  EXPECT_EQ(format_from_name("xml"), std::nullopt);
}

TEST(TableDeathTest, ARowNeedsACellForEachColumn) {
  Table table({{"a"}, {"b"}});
  EXPECT_DEATH(table.add_row({"only one"}), "one cell for each column");
}

}  // namespace
}  // namespace tutti::cli
