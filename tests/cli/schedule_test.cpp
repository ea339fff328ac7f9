// SPDX-License-Identifier: Apache-2.0
// `tutti schedule` and `tutti algorithms` as a user calls them.
#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../report/svg_check.hpp"
#include "algorithms/registry.hpp"
#include "calling.hpp"
#include "cli/commands.hpp"
#include "cli/program.hpp"
#include "report/schedule/schedule_columns.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti::cli {
namespace {

Outcome run_schedule(const std::vector<std::string>& arguments) {
  const std::array commands{algorithms_command(), schedule_command()};
  return call(commands, arguments);
}

TEST(ScheduleCommand, ItsTextReadsBack) {
  const Outcome outcome =
      run_schedule({"schedule", "--algorithm", "ring", "--collective", "all-reduce", "--num-ranks", "3"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const Result<Schedule> schedule = read_schedule(outcome.out, "ring");
  ASSERT_TRUE(schedule.ok()) << schedule.status().to_string();
  EXPECT_EQ(schedule->name, "ring");
  EXPECT_EQ(schedule->num_ranks, 3U);
  EXPECT_EQ(write_schedule(*schedule), outcome.out);
}

TEST(ScheduleCommand, JsonHasTheStepsOfTheRankAskedFor) {
  const Outcome outcome =
      run_schedule({"schedule", "--algorithm", "knomial", "--collective", "broadcast", "--num-ranks", "4", "--radix",
                    "2", "--root", "1", "--format", "json", "--rank", "1"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["name"], "knomial(2)");
  EXPECT_EQ(json["root"], 1);
  ASSERT_EQ(json["ranks"].size(), 1U);
  EXPECT_EQ(json["ranks"][0]["rank"], 1);
  EXPECT_FALSE(json["ranks"][0]["lanes"][0].empty());
}

TEST(ScheduleCommand, ThePictureHasABoxForEachStepAndALineForEachMessage) {
  const Outcome outcome = run_schedule(
      {"schedule", "--algorithm", "ring", "--collective", "all_reduce", "--num-ranks", "3", "--format", "svg"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(outcome.out.starts_with("<svg ") && outcome.out.ends_with("</svg>\n"));
  EXPECT_EQ(count_of(outcome.out, "<g>") + count_of(outcome.out, "<g "), count_of(outcome.out, "</g>"));
  // A rank sends 4 messages, receives as many: 8 steps of each of the 3 ranks, 12 messages, and one line of the legend.
  EXPECT_EQ(count_of(outcome.out, "<g><title>rank "), 24U);
  EXPECT_EQ(count_of(outcome.out, "<line "), 12U + 1U);
  const Outcome fused = run_schedule({"schedule", "--algorithm", "ring", "--collective", "all_reduce", "--num-ranks",
                                      "3", "--format", "svg", "--fused"});
  EXPECT_LT(count_of(fused.out, "<g><title>rank "), 24U);
}

std::string picture_of(const std::string& algorithm, const std::string& collective, const std::string& num_ranks) {
  const Outcome outcome = run_schedule(
      {"schedule", "--algorithm", algorithm, "--collective", collective, "--num-ranks", num_ranks, "--format", "svg"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  return outcome.out;
}

TEST(ScheduleCommand, ThePictureSaysWhoSendsToWhom) {
  const std::string swing = picture_of("swing", "all_reduce", "8");
  for (const char* words : {">to 7</text>", ">from 7</text>", "<title>message from rank 0 to 7</title>"})
    EXPECT_TRUE(contains(swing, words)) << words;
  // Its arrows cross the room between two boxes, which is as wide as they are to be told apart by.
  const std::size_t line = swing.find("<line ");
  EXPECT_GE(test::number_of(swing.substr(line, 200), "x2") - test::number_of(swing.substr(line, 200), "x1"), 20);
  // What does not occur is not in the legend.
  for (const char* words : {">tells</text>", ">waits</text>", ">copies</text>", ">read</text>", ">write</text>"})
    EXPECT_FALSE(contains(swing, words)) << words;
  const std::string one_shot = picture_of("one_shot", "all_reduce", "8");
  for (const char* words : {">tells</text>", ">read</text>", ">from 7 ranks</text>"})
    EXPECT_TRUE(contains(one_shot, words)) << words;
  EXPECT_FALSE(contains(one_shot, ">message</text>"));
}

TEST(ScheduleCommand, PicturesOfManyRanksAreBounded) {
  for (const auto& [algorithm, collective, num_ranks] :
       {std::array{"ring", "all_reduce", "8"}, std::array{"ring", "all_reduce", "64"},
        std::array{"pairwise", "all_to_all", "32"}, std::array{"double_binary_tree", "all_reduce", "40"}}) {
    const std::string svg = picture_of(algorithm, collective, num_ranks);
    test::expect_readable(svg, 2400, 2400);
    test::expect_keys_occur(svg);
  }
  // Of a ring's two halves, repeated steps are left out.
  const std::string ring = picture_of("ring", "all_reduce", "64");
  EXPECT_EQ(count_of(ring, ">like these ...</text>"), 2U);
  EXPECT_TRUE(contains(ring, ">... 118 more</text>") && contains(ring, ">... 120 more</text>"));
  EXPECT_TRUE(contains(ring, " more ranks ...</text>"));
}

TEST(ShownColumns, RepetitionsAreLeftOutWhereThereIsNoRoom) {
  // A beginning, 20 times two units, and an end.
  std::vector<std::uint64_t> units = {9};
  for (int i = 0; i < 20; ++i) units.insert(units.end(), {1, 2});
  units.push_back(7);
  const std::vector<report::ShownColumns> all = report::columns_to_show(units, 42);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].end, 42U);
  const std::vector<report::ShownColumns> few = report::columns_to_show(units, 20);
  ASSERT_EQ(few.size(), 2U);
  EXPECT_EQ(few[0].end, 5U);
  EXPECT_EQ(few[0].num_left_out, 34U);
  EXPECT_TRUE(few[0].is_repeated);
  EXPECT_EQ(few[1].begin, 39U);
  EXPECT_EQ(few[1].end, 42U);
  // Units that are all unlike: those in the middle.
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = i;
  const std::vector<report::ShownColumns> ends = report::columns_to_show(units, 20);
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_FALSE(ends[0].is_repeated);
  EXPECT_EQ(ends[0].end + ends[0].num_left_out, ends[1].begin);
  EXPECT_EQ(ends[1].end, 42U);
}

TEST(ScheduleCommand, ReadsFilesOfEitherForm) {
  const std::string path = ::testing::TempDir() + "tutti_schedule_test.sched";
  const Outcome text = run_schedule({"schedule", "--algorithm", "swing", "--num-ranks", "4", "-o", path});
  ASSERT_EQ(text.exit, Exit::done) << text.error;
  const Outcome again = run_schedule({"schedule", "--file", path});
  EXPECT_EQ(again.exit, Exit::done) << again.error;
  EXPECT_TRUE(contains(again.out, "name swing")) << again.out;
  std::ofstream(path) << "<algo>";
  const Outcome wrong = run_schedule({"schedule", "--file", path});
  EXPECT_EQ(wrong.exit, Exit::misused);
  EXPECT_NE(wrong.error, "");
  std::remove(path.c_str());
}

TEST(ScheduleCommand, MisuseSaysWhatWouldBeRight) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "--algorithm names one"},
      {{"--algorithm", "ring"}, "choose by --collective: all_reduce, all_gather"},
      {{"--algorithm", "rign"}, "there is no algorithm 'rign'"},
      {{"--algorithm", "swing", "--num-ranks", "5"}, "swing needs an even number of ranks, and there are 5"},
      {{"--algorithm", "scatter-all-gather", "--num-ranks", "4", "--root", "9"},
       "the root is rank 9, and there are 4 ranks"},
      {{"--algorithm", "ring", "--collective", "all_reduce", "--radix", "3"}, "--radix: all_reduce ring takes none"},
      {{"--file", "/nowhere", "--radix", "3"}, "--radix and --file exclude each other"},
      {{"--file", "/nowhere", "--root", "9"}, "--root and --file exclude each other"},
      {{"--algorithm", "swing", "--num-ranks", "0"}, "--num-ranks: '0' is not a number from 1 to 4096"},
      {{"--algorithm", "swing", "--num-ranks=-5"}, "--num-ranks: '-5' is not a number from 1 to 4096"},
      {{"--algorithm", "swing", "--format", "png"}, "'png' is not text, json, svg or goal"},
      {{"--algorithm", "swing", "--format", "json", "--rank", "4"}, "4 is not one of the 4 ranks"},
      {{"--algorithm", "swing", "--rank", "1"}, "only --format json"},
      {{"--algorithm", "swing", "--fused"}, "the text form has the steps as written"},
      {{"--algorithm", "one_shot", "--num-ranks", "500", "--format", "svg"}, "128 can be drawn"},
  };
  for (const auto& [arguments, words] : wrong) {
    std::vector<std::string> all = {"schedule"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run_schedule(all);
    EXPECT_EQ(outcome.exit, Exit::misused) << words;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.error, words)) << words << ": " << outcome.error;
    EXPECT_EQ(count_of(outcome.error, "tutti schedule: "), 1U) << "one error: " << outcome.error;
  }
  const Outcome missing = run_schedule({"schedule", "--file", "/nowhere"});
  EXPECT_EQ(missing.exit, Exit::not_done);
  EXPECT_TRUE(contains(missing.error, "/nowhere")) << missing.error;
}

TEST(ScheduleCommand, ShowsTheUsualCase) {
  const Outcome outcome = run_schedule({"schedule", "--algorithm", "hierarchical", "--num-ranks", "4"});
  EXPECT_TRUE(contains(outcome.out, "name hierarchical(2+2, ring)")) << outcome.out;
  const Outcome inner = run_schedule({"schedule", "--algorithm", "hierarchical", "--num-ranks", "6", "--groups",
                                      "1,2,3", "--inner", "recursive_multiplying", "--radix", "3"});
  EXPECT_TRUE(contains(inner.out, "name hierarchical(1+2+3, recursive_multiplying(3))")) << inner.out << inner.error;
  EXPECT_TRUE(contains(run_schedule({"schedule", "--help"}).out, "This radix [2]"));
}

TEST(AlgorithmsCommand, HasARowForEachAlgorithm) {
  const Outcome outcome = run_schedule({"algorithms", "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), all_algorithms().size());
  for (const nlohmann::json& row : rows) {
    for (const char* column : {"collective", "algorithm", "channel", "order", "ranks_allowed", "method", "citation"})
      EXPECT_FALSE(row[column].get<std::string>().empty()) << row << column;
  }
  EXPECT_EQ(run_schedule({"algorithms", "--collective", "barier"}).exit, Exit::misused);
}

}  // namespace
}  // namespace tutti::cli
