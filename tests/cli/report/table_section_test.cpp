// SPDX-License-Identifier: Apache-2.0
// `tutti report` of decision tables: what they decide in words, their evidence, and files that are none.
#include "cli/report/table_section.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"
#include "../calling.hpp"
#include "cli/report/report_commands.hpp"
#include "cli/report/report_page.hpp"
#include "made_up_runs.hpp"
#include "table/table_file.hpp"

namespace tutti::cli {
namespace {

DecisionTable made_up_table() {
  DecisionTable table;
  table.place = "my.toml";
  table.made = "2026-11-25T17:00:00Z";
  table.version = "Tutti 0.1.0";
  table.fingerprint = "0123456789abcdef";
  table.machine = "a processor, 2 cores";
  TableSection& section = table.sections.emplace_back();
  section.ranges = {{.most_bytes = 2048,
                     .way = {.algorithm = "one_shot", .tuning = {}, .settings = {}},
                     .evidence = {{.bytes = 8, .us = 0.5, .samples = 10, .runner_up = "ring", .margin_percent = 1},
                                  {.bytes = 1024,
                                   .us = 1,
                                   .low_us = 0.9,
                                   .high_us = 1.2,
                                   .samples = 10,
                                   .runner_up = "ring",
                                   .margin_percent = 50}}},
                    {.way = {.algorithm = {}, .tuning = {}, .settings = {}},
                     .evidence = {{.bytes = 65536, .us = 20, .samples = 5, .runner_up = "", .margin_percent = 0}}}};
  return table;
}

TEST(TableSection, SaysWhatIsDecidedAndHowSure) {
  const report::Section section = section_of_table(made_up_table());
  ASSERT_EQ(section.answer.size(), 1U);
  EXPECT_EQ(section.answer[0],
            "all_reduce, 2 ranks, ordinary memory: one_shot up to 2 KB, then the default. At 1 KB the choice matters "
            "most: ring, the best other way, takes 50 % longer than one_shot. At 1 of 2 "
            "measured sizes the best other way is within 3 %.");
  ASSERT_EQ(section.lines.size(), 1U);
  ASSERT_EQ(section.lines[0].panels.size(), 1U);
  const report::LinePanel& panel = section.lines[0].panels[0];
  ASSERT_EQ(panel.lines.size(), 2U);
  ASSERT_EQ(panel.lines[0].points.size(), 3U);
  EXPECT_EQ(panel.lines[0].points[1].range->high, 1.2);
  EXPECT_FALSE(panel.lines[0].points[0].range);
  ASSERT_EQ(panel.lines[1].points.size(), 2U);
  EXPECT_EQ(panel.lines[1].points[1].y, 1.5);
  ASSERT_EQ(section.tables.size(), 1U);
  EXPECT_EQ(section.tables[0].table.rows().size(), 3U);
  EXPECT_TRUE(section.cautions.empty());
}

TEST(TableSection, WhatOneWayDoesIsSaidOnce) {
  DecisionTable table = made_up_table();
  table.sections[0].ranges.erase(table.sections[0].ranges.begin());
  table.sections[0].ranges[0].evidence.clear();
  const report::Section section = section_of_table(table);
  ASSERT_EQ(section.answer.size(), 1U);
  EXPECT_EQ(section.answer[0], "all_reduce, 2 ranks, ordinary memory: the default at all sizes.");
  ASSERT_EQ(section.cautions.size(), 1U);
  EXPECT_TRUE(section.lines.empty());
  EXPECT_TRUE(section.tables.empty());
}

TEST(TableSection, ManyRangesAreCounted) {
  DecisionTable table = made_up_table();
  std::vector<TableRange>& ranges = table.sections[0].ranges;
  const TableRange first = ranges.front();
  for (const std::uint64_t most : {1024U, 512U, 256U}) {
    ranges.insert(ranges.begin(), first);
    ranges.front().most_bytes = most;
  }
  ASSERT_EQ(ranges.size(), 5U);
  const std::string answer = section_of_table(table).answer.at(0);
  EXPECT_TRUE(contains(answer, "ordinary memory: 5 ranges; the default runs at 1 of 9 measured sizes. At 1 KB"))
      << answer;
}

std::string use_in(const DecisionTable& table) {
  for (const report::Fact& each : section_of_table(table).facts)
    if (each.name == "To use it") return each.value;
  return "";
}

TEST(TableSection, SaysHowEachTableIsUsed) {
  DecisionTable table = made_up_table();
  EXPECT_EQ(use_in(table), "TUTTI_TABLE=my.toml");
  table.set_measured_peer("simulate:torus_2d:8x8");
  EXPECT_EQ(use_in(table), "TUTTI_FABRIC=simulate:torus_2d:8x8 TUTTI_TABLE=my.toml");
  table.set_measured_peer("openmpi");
  EXPECT_EQ(use_in(table), "tutti export --to openmpi my.toml");
  table.set_measured_peer(kDevicePeer);
  EXPECT_EQ(use_in(table), "TUTTI_DEVICE_TABLE=my.toml");
}

TEST(TableSection, APageHasRunsAndTables) {
  const std::string html = page_of_all({test::report_run(test::crossing_rows())}, {made_up_table()}, {});
  for (const char* words : {"Tutti report of 1 run and 1 table", "Decision table my.toml", "a processor"})
    EXPECT_TRUE(contains(html, words)) << words;
  const std::string alone = page_of_all({}, {made_up_table()}, {});
  EXPECT_TRUE(contains(alone, "a processor, 2 cores; table made 2026-11-25T17:00:00Z"));
}

Outcome report_with(std::vector<std::string> arguments) {
  static const BenchWorld world;
  return call(report_command(world), std::move(arguments));
}

TEST(TableSection, FilesAreTakenForTables) {
  const tutti::test::TemporaryFolder folder;
  const std::string path = folder.file("my.toml");
  std::ofstream(path) << write_table(made_up_table());
  const std::string page = folder.file("page.html");
  const Outcome called = report_with({path, "-o", page});
  EXPECT_EQ(called.exit, Exit::done) << called.error;
  EXPECT_TRUE(std::ifstream(page).good());

  EXPECT_TRUE(contains(report_with({folder.file("none.toml"), "-o", page}).error, "none.toml"));
  std::ofstream(path) << "version = 2\n";
  EXPECT_TRUE(contains(report_with({path, "-o", page}).error, "my.toml:1"));
  EXPECT_TRUE(contains(report_with({path, "last", "--compare", "-o", page}).error, "is a file"));
}

}  // namespace
}  // namespace tutti::cli
