// SPDX-License-Identifier: Apache-2.0
// What a score undoes.
#include "cli/tune/tune_score.hpp"

#include <gtest/gtest.h>

#include "../calling.hpp"
#include "cli/tune/tune_report.hpp"
#include "tune/make_sections.hpp"

namespace tutti::cli {
namespace {

TableWay way(const std::string& algorithm) { return {.algorithm = algorithm, .tuning = {}, .settings = {}}; }

TEST(TuneScore, WhatIsSlowerOrWrongIsNotInTheTable) {
  std::vector<tune::Cell> cells;
  for (const std::uint64_t bytes : {8U, 64U, 512U}) {
    cells.push_back({.key = {}, .bytes = bytes, .times = {}});
    for (const auto& [name, us] : {std::pair("", 10.0), std::pair("ring", 8.0), std::pair("two_shot", 12.0)})
      cells.back().times.push_back({.way = way(name), .us = us, .low_us = us * 0.99, .high_us = us * 1.01});
  }
  std::vector<Scored> scored(3);
  for (std::size_t each = 0; each < 3; ++each) {
    scored[each].bytes = cells[each].bytes;
    scored[each].before_us = 10;
    scored[each].way = way("ring");
  }
  scored[0].ratio.ratio = 1.25;
  scored[0].ratio.verdict = harness::Verdict::faster;
  scored[1].ratio.ratio = 0.8;
  scored[1].ratio.verdict = harness::Verdict::slower;
  scored[2].fault = "rank 1: element 5 is 3, not 4";
  EXPECT_EQ(undo_losses(scored, cells, [](const Scored& each) { return way(each.bytes == 64 ? "" : "tree"); }), 2U);
  const std::vector<TableSection> sections = tune::make_sections(cells, {});
  ASSERT_EQ(sections.size(), 1U);
  EXPECT_EQ(sections[0].range_of(8).way.algorithm, "ring");
  EXPECT_EQ(sections[0].range_of(64).way.algorithm, "");
  EXPECT_EQ(sections[0].range_of(512).way.algorithm, "tree");
  EXPECT_EQ(
      summary_of(scored),
      "3 sizes: 1 faster, 0 slower, 0 the same, 0 undecided, 2 slower and undone; geometric mean 1.25 times as fast");
}

TEST(TuneScore, OnlyWhatIsSurelyFasterIsInTheTableIfThatIsAskedFor) {
  std::vector<tune::Cell> cells;
  std::vector<Scored> scored;
  for (const harness::Verdict verdict :
       {harness::Verdict::faster, harness::Verdict::undecided, harness::Verdict::same}) {
    const std::uint64_t bytes = 8U << (3 * cells.size());
    cells.push_back(
        {.key = {}, .bytes = bytes, .times = {{.way = way("ring"), .us = 8, .low_us = 7.9, .high_us = 8.1}}});
    Scored& each = scored.emplace_back();
    each.bytes = bytes;
    each.before_us = 10;
    each.way = way("ring");
    each.ratio.ratio = 1.25;
    each.ratio.verdict = verdict;
  }
  std::vector<Scored> again = scored;
  std::vector<tune::Cell> cells_again = cells;
  const auto before = [](const Scored&) { return way(""); };
  EXPECT_EQ(undo_losses(again, cells_again, before), 0U);
  EXPECT_EQ(undo_losses(scored, cells, before, true), 2U);
  const std::vector<TableSection> sections = tune::make_sections(cells, {});
  ASSERT_EQ(sections.size(), 1U);
  EXPECT_EQ(sections[0].range_of(8).way.algorithm, "ring");
  EXPECT_EQ(sections[0].range_of(64).way.algorithm, "");
  EXPECT_EQ(sections[0].range_of(512).way.algorithm, "");
  EXPECT_EQ(summary_of(scored),
            "3 sizes: 1 faster, 0 slower, 0 the same, 0 undecided, 2 not surely faster and undone; geometric mean 1.25 "
            "times as fast");
}

// The score is of several launches, and the races are of one.
TEST(TuneScore, WhatIsPerhapsSlowerIsUndone) {
  for (const double ratio : {0.6, 0.96, 0.98, 1.0, 1.1}) {
    std::vector<tune::Cell> cells = {{.key = {}, .bytes = 8, .times = {{.way = way("ring"), .us = 8}}}};
    std::vector<Scored> scored(1);
    scored[0].bytes = 8;
    scored[0].before_us = 10;
    scored[0].way = way("ring");
    scored[0].ratio.ratio = ratio;
    scored[0].ratio.verdict = harness::Verdict::undecided;
    const bool is_undone = undo_losses(scored, cells, [](const Scored&) { return way(""); }) == 1;
    EXPECT_EQ(is_undone, ratio < 0.97) << ratio;
    EXPECT_EQ(cells[0].times[0].way, way(is_undone ? "" : "ring")) << ratio;
    EXPECT_EQ(contains(summary_of(scored), "1 not surely faster and undone"), is_undone) << summary_of(scored);
  }
}

// Memory that is touched for the first time makes the first rounds slow, of either.
TEST(TuneScore, RoundsThatAreSlowAtTheBeginDoNotCount) {
  const SteadyRounds rounds =
      steady_rounds({58, 50, 1.7, 1.3, 1.3, 1.4, 1.3, 1.3}, {1.4, 1.3, 1.3, 90, 1.3, 1.3, 1.3, 1.3});
  EXPECT_EQ(rounds.a, (std::vector<double>{1.3, 1.4, 1.3, 1.3}));
  EXPECT_EQ(rounds.b.size(), rounds.a.size());
  // What is slow later on is no beginning, and what is slow all along is slow.
  EXPECT_EQ(steady_rounds({1, 1, 1, 1, 9, 9}, {1, 1, 1, 1, 1, 1}).a.size(), 6U);
  EXPECT_EQ(steady_rounds({50, 50, 50, 50}, {1, 1, 1, 1}).a.size(), 4U);
  EXPECT_EQ(steady_rounds({}, {1}).a.size(), 0U);
}

TEST(TuneScore, AMachineThatBecameSlowerIsNoticed) {
  const auto default_way = [](const Scored&) { return way(""); };
  std::vector<tune::Cell> cells;
  std::vector<Scored> scored;
  for (const std::uint32_t ranks : {2U, 4U})
    for (std::size_t each = 0; each < kLeastSizesOfDrift; ++each) {
      const double us = 10.0 * static_cast<double>(each + 1);
      tune::Cell& cell = cells.emplace_back();
      cell.key.ranks = ranks;
      cell.bytes = 8U << each;
      cell.times = {{.way = way("ring"), .us = us / 2}, {.way = way(""), .us = us}};
      // Of two ranks, all sizes but one take 1.7 times as long; of four, all but one are as they were.
      const bool is_odd_one = each == 1;
      Scored& score = scored.emplace_back();
      score.key = cell.key;
      score.bytes = cell.bytes;
      score.before_us = (ranks == 2) != is_odd_one ? us * 1.7 : us;
    }
  const std::vector<Drift> slower = drifts_of(scored, cells, default_way);
  ASSERT_EQ(slower.size(), 1U);
  EXPECT_EQ(slower[0].key.ranks, 2U);
  EXPECT_NEAR(slower[0].times, 1.7, 1e-9);
  // The other way round, and with too few sizes to tell.
  for (Scored& each : scored) each.before_us /= 1.7 * 1.7;
  EXPECT_EQ(drifts_of(scored, cells, default_way).size(), 2U);
  scored.resize(kLeastSizesOfDrift - 1);
  EXPECT_TRUE(drifts_of(scored, cells, default_way).empty());
}

}  // namespace
}  // namespace tutti::cli
