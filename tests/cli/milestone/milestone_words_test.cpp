// SPDX-License-Identifier: Apache-2.0
// What parts say of rows that are made up here: ties, what tuning changed, published ranges, the time left.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/make_progress.hpp"
#include "cli/milestone/shared/cautions.hpp"
#include "cli/milestone/shared/measured.hpp"

namespace tutti::cli {
namespace {

struct Measured {
  int bytes = 0;
  const char* competitor = "";
  double time = 0;
  const char* ran = "ran";
  bool is_best = false;
  bool is_tied = false;
  std::optional<double> speedup = {};  // over the baseline "base", within 0.1
};

PartRow row_of(const Measured& one) {
  const auto cell = [&](double more) { return one.speedup ? Cell(*one.speedup + more) : Cell(); };
  return {std::int64_t{one.bytes},
          std::string(one.competitor),
          std::string("f32"),
          std::int64_t{2},
          one.time,
          one.time,
          one.time,
          one.time,
          1.0,
          std::int64_t{100},
          std::string("ok"),
          true,
          std::string(one.ran),
          std::string("1"),
          Cell(),
          one.is_best,
          one.is_tied,
          std::string("base"),
          cell(0),
          cell(-0.1),
          cell(0.1)};
}

PartRows rows_of(const std::vector<Measured>& measured) {
  PartOrigin origin;
  origin.machine = "a machine";
  origin.cases = {"one"};
  CaseRows rows{.name = "one"};
  for (const Measured& each : measured) rows.rows.push_back(row_of(each));
  return {std::move(origin), measured_columns(), {std::move(rows)}};
}

TEST(MilestoneWords, TheFastestIsNamedWithThoseThatAreLevel) {
  const std::vector<std::string> sentences = bests_in_words(rows_of({{8, "base", 0.3},
                                                                     {8, "a", 0.2, "ran", true, false, 1.5},
                                                                     {64, "base", 12, "ran", false, true},
                                                                     {64, "a", 13, "ran", true, false, 1.05},
                                                                     {512, "base", 99},
                                                                     {512, "a", 22.2, "ran", false, true, 1.9},
                                                                     {512, "b", 21, "ran", true, false, 2},
                                                                     {512, "c", 20.1, "ran", false, true, 2},
                                                                     {512, "d", 23, "ran", false, true, 2},
                                                                     {512, "e", 24, "ran", false, true, 2},
                                                                     {512, "f", 25, "ran", false, true, 2},
                                                                     {4096, "base", 12150},
                                                                     {4096, "a", 12100, "ran", true, false, 1.05}}));
  ASSERT_EQ(sentences.size(), 4U);
  EXPECT_EQ(sentences[0], "At 8 B the fastest is a with 200 ns, 1.50 times as fast as base.");
  EXPECT_EQ(sentences[1], "At 64 B none is the fastest alone: a takes 13.0 us, level with base.");
  EXPECT_EQ(sentences[2],
            "At 512 B none is the fastest alone: b takes 21.0 us, level with c, a, d and 2 more, 2.00 times as fast as "
            "base.");
  EXPECT_EQ(sentences[3], "At 4 KB the fastest is a with 12.1 ms.") << "the interval has 1";
}

TEST(MilestoneWords, TuningIsCreditedOnlyWhereAnotherAlgorithmRan) {
  const char* const before = "before tuning";
  const char* const after = "after tuning";
  const char* const left = "all_reduce ring (by size, which a table leaves it to)";
  const auto shown_of = [](const std::vector<Measured>& measured) {
    Result<PartShown> shown = tuned_part().show(rows_of(measured));
    EXPECT_TRUE(shown.ok()) << shown.status().to_string();
    return std::move(*shown);
  };
  const PartShown same = shown_of({{8, before, 1, "all_reduce ring (by size)", true},
                                   {8, after, 2, left, false, false, 0.5},
                                   {64, before, 1, "all_reduce ring (by size)", true},
                                   {64, after, 2, "all_reduce ring (a table:3)", false, false, 0.5}});
  ASSERT_EQ(same.answer.size(), 2U);
  const Table& table = same.tables.front().table.table;
  ASSERT_EQ(table.columns()[1].name, "best");
  for (const std::vector<Cell>& row : table.rows())
    for (std::size_t cell = 1; cell <= 6; ++cell) EXPECT_EQ(row[cell], Cell()) << "nothing is compared";
  EXPECT_TRUE(same.answer[0].starts_with("At 2 of 2 sizes the same algorithm runs before and after tuning"))
      << same.answer[0];
  const PartShown changed = shown_of({{8, before, 1, "all_reduce ring (by size)", true},
                                      {8, after, 2, left, false, false, 0.5},
                                      {64, before, 4, "all_reduce ring (by size)"},
                                      {64, after, 2, "all_reduce swing (a table:3)", true, false, 2}});
  EXPECT_EQ(changed.answer[0],
            "Where the tuned table has another algorithm run, all-reduce is 2.00 times as fast as base (geometric mean "
            "of 1 size; 2.00 to 2.00).");
  EXPECT_TRUE(changed.answer[1].starts_with("At 1 of 2 sizes")) << changed.answer[1];
  EXPECT_EQ(changed.tables.front().table.table.rows()[0][1], Cell());
  EXPECT_EQ(changed.tables.front().table.table.rows()[1][1], Cell(std::string(after)));
  EXPECT_EQ(changed.answer[2], "At 64 B the fastest is after tuning with 2.00 us, 2.00 times as fast as base.");
}

// More than have a color: the fastest of each size do, even where it is level with others at few sizes only.
TEST(MilestoneWords, CaptionsSayWhichLinesHaveColor) {
  const std::vector<std::string> names = {"base", "one_shot", "a", "b", "c", "d", "e", "f", "g", "h"};
  std::vector<Measured> measured;
  for (const int bytes : {8, 64, 512})
    for (std::size_t each = 0; each < names.size(); ++each)
      measured.push_back({bytes, names[each].c_str(), 1.0 + static_cast<double>(each), "ran",
                          bytes == 8 ? each == 1 : each == 2, each > 2 && bytes > 8});
  report::LineChart chart = chart_of_competitors(rows_of(measured), "t");
  ASSERT_EQ(chart.panels.size(), 1U);
  EXPECT_EQ(chart.panels[0].first, (std::vector<std::string>{"base", "a", "one_shot", "b", "c", "d", "e", "f"}));
  EXPECT_TRUE(
      chart.remark.ends_with("in color, of 10 lines: the baseline, the fastest of each size, and 5 of those level "
                             "with it at the most sizes"))
      << chart.remark;
  EXPECT_NE(chart.remark.find("need not hold it"), std::string::npos) << chart.remark;
  // As many as there are colors.
  for (Measured& each : measured) each.is_tied = each.is_tied && each.time < 9;
  EXPECT_TRUE(chart_of_competitors(rows_of(measured), "t")
                  .remark.ends_with("the baseline, all that are the fastest, or level with it, at some size"));
}

TEST(MilestoneWords, TheSameWarningIsOne) {
  GroupedCautions grouped;
  for (const char* size : {"8 B", "64 B", "512 B", "4 KB", "32 KB"}) {
    grouped.add("ring", size, "skipped: it cannot", false);
    if (size[0] == '6') grouped.add("swing", size, "wrong: sum", true);
  }
  std::vector<report::Caution> cautions;
  grouped.move_to(cautions);
  ASSERT_EQ(cautions.size(), 2U);
  EXPECT_EQ(cautions[0].words, "ring, 8 B, 64 B, 512 B and 2 more: skipped: it cannot");
  EXPECT_FALSE(cautions[0].is_bad);
  EXPECT_EQ(cautions[1].words, "swing, 64 B: wrong: sum");
  EXPECT_TRUE(cautions[1].is_bad);
}

TEST(MilestoneWords, TheTimeLeftFallsWhileACaseRuns) {
  EXPECT_DOUBLE_EQ(seconds_left_of(100, 0, 0, 0), 100);
  EXPECT_DOUBLE_EQ(seconds_left_of(100, 0, 0, 30), 70);
  EXPECT_DOUBLE_EQ(seconds_left_of(100, 50, 50, 10), 40);
  // Slower than expected, and for longer than all that was left.
  EXPECT_GT(seconds_left_of(100, 50, 100, 0), 90);
  EXPECT_DOUBLE_EQ(seconds_left_of(100, 50, 50, 1000), 5);
  // Short cases at the beginning say little of long ones.
  EXPECT_NEAR(seconds_left_of(500, 1, 10, 0), 499 * 35.0 / 26, 1e-9);
  EXPECT_DOUBLE_EQ(seconds_left_of(0, 0, 0, 5), 0);
}

}  // namespace
}  // namespace tutti::cli
