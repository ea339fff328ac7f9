// SPDX-License-Identifier: Apache-2.0
// From times to ranges.
#include "tune/make_sections.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::tune {
namespace {

WayTime time_of(const std::string& algorithm, double us, double plus_minus = 0) {
  return {.way = {.algorithm = algorithm, .tuning = {}, .settings = {}},
          .us = us,
          .low_us = us * (1 - plus_minus),
          .high_us = us * (1 + plus_minus),
          .samples = 10};
}

Cell cell_of(std::uint64_t bytes, std::vector<WayTime> times, std::uint32_t ranks = 2) {
  return {.key = {.ranks = ranks}, .bytes = bytes, .times = std::move(times)};
}

std::string text_of(const std::vector<TableSection>& sections) {
  std::string text;
  for (const TableSection& section : sections) {
    text += std::to_string(section.ranks) + ":";
    for (const TableRange& range : section.ranges)
      text += " " + range.way.to_string() + (range.most_bytes == kNoEnd ? "" : "<=" + std::to_string(range.most_bytes));
    text += "\n";
  }
  return text;
}

constexpr MergeOptions kExact{.tolerance = 0, .least_gain = 0, .least_doubtful_gain = 0, .most_regret = 0};

TEST(MakeSections, EachSizeHasItsFastest) {
  const std::vector<Cell> cells = {cell_of(8, {time_of("a", 1), time_of("b", 2)}),
                                   cell_of(64, {time_of("a", 2), time_of("b", 2.5)}),
                                   cell_of(512, {time_of("a", 8), time_of("b", 4)})};
  // Lines through both times at 64 and 512 cross where a takes as long as b: a bit beyond 64.
  EXPECT_EQ(text_of(make_sections(cells, kExact)), "2: a<=104 b\n");
}

TEST(MakeSections, ASmallDifferenceIsNotWorthAChange) {
  const std::vector<Cell> cells = {cell_of(8, {time_of("a", 1), time_of("b", 2)}),
                                   cell_of(64, {time_of("a", 1.004), time_of("b", 1)}),
                                   cell_of(512, {time_of("a", 1), time_of("b", 2)})};
  EXPECT_EQ(text_of(make_sections(cells, {})), "2: a\n");
  EXPECT_NE(text_of(make_sections(cells, kExact)), "2: a\n");
}

TEST(MakeSections, NoSizeLosesMoreThanTheMostRegret) {
  const std::vector<Cell> cells = {cell_of(8, {time_of("a", 1), time_of("b", 2)}),
                                   cell_of(64, {time_of("a", 1.05), time_of("b", 1)}),
                                   cell_of(512, {time_of("a", 1), time_of("b", 2)})};
  for (const TableRange& range : make_sections(cells, {.tolerance = 10})[0].ranges)
    for (const TableEvidence& evidence : range.evidence) EXPECT_GT(evidence.margin_percent, -3.1);
}

TEST(MakeSections, WhatHappensUntunedStaysUnlessSomethingIsSurelyFaster) {
  WayTime untuned = time_of("", 1, 0.05);
  EXPECT_EQ(text_of(make_sections(std::vector{cell_of(8, {untuned, time_of("a", 0.98, 0.05)})}, {})),
            "2: the default\n");
  EXPECT_EQ(text_of(make_sections(std::vector{cell_of(8, {untuned, time_of("a", 0.8, 0.05)})}, {})), "2: a\n");
}

// Where the intervals meet, 4 % are too little, and more than what any other way may lose.
TEST(MakeSections, ADoubtfulGainOfLessThanFourPercentChangesNothing) {
  const auto taken = [](double us, double plus_minus) {
    return text_of(make_sections({{cell_of(8, {time_of("", 10, plus_minus), time_of("a", us, plus_minus)})}}, {}));
  };
  const std::string untuned = text_of(make_sections({{cell_of(8, {time_of("", 10)})}}, {}));
  EXPECT_EQ(taken(9.65, 0.05), untuned) << "3.6 %";
  EXPECT_EQ(taken(9.5, 0.05), "2: a\n") << "5.3 %";
  EXPECT_EQ(taken(9.65, 0.001), "2: a\n") << "3.6 % without doubt";
}

TEST(MakeSections, WhatWasNotMeasuredIsLeftAlone) {
  std::vector<TableSection> sections = make_sections({{cell_of(8, {time_of("a", 1), time_of("", 2)})}}, {});
  leave_beyond(8, sections.at(0));
  ASSERT_EQ(sections[0].ranges.size(), 2U);
  EXPECT_EQ(sections[0].range_of(8).way.algorithm, "a");
  EXPECT_EQ(sections[0].range_of(9).way, TableWay());
  EXPECT_EQ(sections[0].range_of(kNoEnd).way, TableWay());
  leave_beyond(8, sections[0]);
  EXPECT_EQ(sections[0].ranges.size(), 2U) << "it is left already";
}

TEST(MakeSections, AWayIsTakenOnlyWhereItWasTried) {
  const std::vector<Cell> cells = {cell_of(8, {time_of("a", 1)}), cell_of(64, {time_of("b", 1)})};
  EXPECT_EQ(text_of(make_sections(cells, {.tolerance = 10})), "2: a<=22 b\n");
}

TEST(MakeSections, KeysHaveSectionsOfTheirOwnAndEmptyOnesNone) {
  const std::vector<Cell> cells = {cell_of(8, {time_of("a", 1)}, 4), cell_of(8, {time_of("b", 1)}, 2),
                                   cell_of(8, {}, 3)};
  EXPECT_EQ(text_of(make_sections(cells, {})), "2: b\n4: a\n");
  EXPECT_TRUE(make_sections({}, {}).empty());
}

TEST(MakeSections, EvidenceHasTheRunnerUp) {
  const auto sections =
      make_sections(std::vector{cell_of(8, {time_of("a", 1), time_of("b", 1.2), time_of("c", 2)})}, {});
  const TableEvidence& evidence = sections[0].ranges[0].evidence[0];
  EXPECT_EQ(evidence.runner_up, "b");
  EXPECT_DOUBLE_EQ(evidence.margin_percent, 20);
  EXPECT_EQ(evidence.samples, 10U);
}

}  // namespace
}  // namespace tutti::tune
