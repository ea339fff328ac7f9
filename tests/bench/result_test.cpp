// SPDX-License-Identifier: Apache-2.0
// Rows of several launches as one, and rows against each other; made up, so without a clock.
#include "bench/results/result.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

// Rounds of four samples around these medians.
Row row_of_medians(const std::string& peer, int launch, const std::vector<double>& medians) {
  Row row;
  row.bench = "all_reduce";
  row.peer = peer;
  row.launch = launch;
  row.is_checked = true;
  row.stop = Stop::precise;
  for (const double median : medians) {
    if (median > 0) row.samples.insert(row.samples.end(), {median * 0.9, median, median, median * 5});
    row.rounds.push_back(median > 0 ? 4 : 0);
  }
  return row;
}

TEST(Rows, MediansOfRounds) {
  EXPECT_EQ(medians_of_rounds(row_of_medians("a", 0, {100, 0, 120})), (std::vector<double>{100, 0, 120}));
  Row row;
  row.samples = {3, 1, 2};
  EXPECT_EQ(medians_of_rounds(row), row.samples);
}

TEST(Rows, TheIntervalIsOfRoundsNotOfSamples) {
  const Row row = row_of_medians("a", 0, {100, 110, 100, 90, 105, 95});
  const Summary summary = summarize(row);
  EXPECT_EQ(summary.count, 24U);
  ASSERT_TRUE(summary.interval);
  EXPECT_EQ(summary.interval->low, 90);
  EXPECT_EQ(summary.interval->high, 110);
  EXPECT_FALSE(summarize(row_of_medians("a", 0, {100, 110, 100, 90, 105})).interval);
  EXPECT_FALSE(summarize(row_of_medians("a", 0, {100, 110, 100, 90, 105, 0})).interval)
      << "a round without samples counts";
}

TEST(Rows, OneThatIsExactStandsAgainstTheIntervalOfOneThatIsNot) {
  Row exact = row_of_medians("simulated", 0, {});
  exact.sync = Sync::virtual_time;
  exact.samples = {200};
  exact.rounds = {1};
  EXPECT_EQ(summarize(exact).interval->low, 200);
  EXPECT_EQ(summarize(exact).interval->high, 200);
  const Row measured = row_of_medians("measured", 0, {100, 110, 100, 90, 105, 95});
  const Ratio ratio = compare_paired(exact, measured);
  EXPECT_DOUBLE_EQ(ratio.ratio, 0.5);
  EXPECT_DOUBLE_EQ(ratio.interval->low, 0.45);
  EXPECT_DOUBLE_EQ(ratio.interval->high, 0.55);
  EXPECT_EQ(ratio.verdict, Verdict::slower);
  EXPECT_EQ(compare_paired(measured, exact).verdict, Verdict::faster);
  EXPECT_FALSE(sync_from_name("virtual")) << "nobody can ask for it";
}

TEST(Rows, APredictionWithinTheIntervalOfAnotherIsUndecided) {
  const auto predicted = [](double time, double low, double high) {
    Row row;
    row.sync = Sync::virtual_time;
    row.samples = {time * 1e3};
    row.counters = {{std::string(kPredictedLow), low}, {std::string(kPredictedHigh), high}};
    return row;
  };
  EXPECT_EQ(compare_paired(predicted(10, 8, 12), predicted(13, 11, 15)).verdict, Verdict::undecided);
  const Ratio apart = compare_paired(predicted(10, 9, 12), predicted(18, 15, 20));
  EXPECT_EQ(apart.verdict, Verdict::faster);
  EXPECT_DOUBLE_EQ(apart.interval->low, 15.0 / 12);
  EXPECT_DOUBLE_EQ(apart.interval->high, 20.0 / 9);
}

TEST(Rows, LaunchesAreJoinedAndTheirMediansCount) {
  std::vector<Row> rows;
  const std::vector<double> launches = {100, 200, 110, 120, 130, 140, 150};
  for (int launch = 0; launch < 7; ++launch)
    for (const char* peer : {"a", "b"})
      rows.push_back(row_of_medians(peer, launch, std::vector<double>(5, launches[static_cast<std::size_t>(launch)])));
  const std::vector<Row> joined = join_launches(rows);
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[1].peer, "b");
  EXPECT_EQ(joined[0].launches, std::vector<std::uint32_t>(7, 5));
  EXPECT_EQ(medians_of_launches(joined[0]), launches);
  const Summary summary = summarize(joined[0]);
  EXPECT_EQ(summary.median, 130);
  EXPECT_EQ(summary.count, 140U);
  EXPECT_EQ(summary.interval->low, 100);
  EXPECT_EQ(summary.interval->high, 200);
}

TEST(Rows, TheWorstOutcomeOfLaunchesIsTheirs) {
  std::vector<Row> rows = {row_of_medians("a", 0, {1}), row_of_medians("a", 1, {1}), row_of_medians("a", 2, {1})};
  rows[1].outcome = Outcome::wrong;
  rows[1].note = "7 is 8";
  rows[2].outcome = Outcome::error;
  rows[2].note = "gone";
  const std::vector<Row> joined = join_launches(rows);
  EXPECT_EQ(joined[0].outcome, Outcome::wrong);
  EXPECT_EQ(joined[0].note, "7 is 8");
}

TEST(Rows, WhatAnyLaunchHasToTellIsTold) {
  std::vector<Row> rows = {row_of_medians("a", 0, {1}), row_of_medians("a", 1, {1}), row_of_medians("a", 2, {1}),
                           row_of_medians("a", 3, {1})};
  rows[0].note = "odd; queer";
  rows[1].note = "queer; strange";
  rows[3].note = "odd";
  for (Row& row : rows) row.ran = "ring";
  rows[2].ran = "tree";
  for (int launch = 0; launch < 3; ++launch) rows[static_cast<std::size_t>(launch)].counters["c"] = 30 - 10 * launch;
  rows[3].counters["c"] = std::numeric_limits<double>::quiet_NaN();
  rows[3].counters["d"] = 4;
  rows[0].evidence["A"] = {State::Obeyed::confirmed, "seen"};
  rows[1].evidence["A"] = {State::Obeyed::ignored, "seen to be other"};
  rows[2].evidence["A"] = {State::Obeyed::unverifiable, "not seen"};
  rows[2].shares_cores = true;
  const Row joined = join_launches(rows)[0];
  EXPECT_EQ(joined.note, "odd; queer; strange");
  EXPECT_EQ(joined.ran, "ring; tree");
  EXPECT_EQ(joined.counters, (std::map<std::string, double>{{"c", 20}, {"d", 4}}));
  EXPECT_EQ(joined.evidence.at("A").obeyed, State::Obeyed::ignored);
  EXPECT_EQ(joined.evidence.at("A").how, "seen to be other");
  EXPECT_TRUE(joined.shares_cores);
}

TEST(Rows, PairsAreComparedLaunchByLaunch) {
  // In each launch b takes 10 % more; the launches themselves differ by far more.
  std::vector<Row> rows;
  for (int launch = 0; launch < 6; ++launch) {
    const double time = 1000 + 300 * launch;
    rows.push_back(row_of_medians("a", launch, {time, time * 2, time}));
    rows.push_back(row_of_medians("b", launch, {time * 1.1, time * 2.2, time * 1.1}));
  }
  const std::vector<Row> joined = join_launches(rows);
  const Ratio ratio = compare_paired(joined[1], joined[0]);
  EXPECT_NEAR(ratio.ratio, 1 / 1.1, 1e-9);
  EXPECT_EQ(ratio.verdict, Verdict::slower);
  EXPECT_EQ(compare_apart(joined[1], joined[0]).verdict, Verdict::undecided) << "apart nobody knows";
}

TEST(Rows, OfOneLaunchRoundsArePairs) {
  const Row a = row_of_medians("a", 0, {1000, 2000, 0, 3000, 4000, 5000, 6000, 1000});
  const Row b = row_of_medians("b", 0, {1200, 2400, 500, 3600, 4800, 6000, 7200});
  const Ratio ratio = compare_paired(a, b);
  EXPECT_NEAR(ratio.ratio, 1.2, 1e-9);
  EXPECT_EQ(ratio.verdict, Verdict::faster);
}

TEST(Rows, ATimeOfNothingHasAVerdictButNoInterval) {
  const auto exact = [](double time) {
    Row row;
    row.sync = Sync::virtual_time;
    row.samples = {time};
    return row;
  };
  const Ratio both = compare_paired(exact(0), exact(0));
  EXPECT_EQ(both.verdict, Verdict::same);
  EXPECT_EQ(both.ratio, 1);
  EXPECT_FALSE(both.interval);
  const Ratio none = compare_paired(exact(0), exact(10));
  EXPECT_EQ(none.verdict, Verdict::faster);
  EXPECT_FALSE(none.interval);
  EXPECT_EQ(compare_paired(exact(10), exact(0)).verdict, Verdict::slower);
}

TEST(Rows, LaunchesWithoutATimeAreLeftOut) {
  std::vector<Row> rows;
  for (int launch = 0; launch < 7; ++launch) {
    rows.push_back(row_of_medians("a", launch, launch == 3 ? std::vector<double>() : std::vector<double>{1000}));
    rows.push_back(row_of_medians("b", launch, {1300}));
  }
  const std::vector<Row> joined = join_launches(rows);
  const Ratio ratio = compare_paired(joined[0], joined[1]);
  EXPECT_NEAR(ratio.ratio, 1.3, 1e-9);
  EXPECT_EQ(ratio.verdict, Verdict::faster);
}

}  // namespace
}  // namespace tutti::harness
