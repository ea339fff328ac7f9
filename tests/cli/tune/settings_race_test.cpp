// SPDX-License-Identifier: Apache-2.0
// Which environment is best at which size, from rows; and the file for shells.
#include "cli/tune/program/settings_race.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/tune/program/shell_file.hpp"

namespace tutti::cli {
namespace {

Settings mode(const std::string& value) { return {{.name = "MODE", .value = value}}; }
const Settings kUnset = {{.name = "MODE", .value = std::nullopt}};

harness::Row row_of(const Settings& settings, std::int64_t bytes, double us) {
  harness::Row row;
  row.bench = "program";
  row.peer = "command";
  row.num_ranks = 0;
  row.settings = settings;
  row.point.values = {{"bytes", harness::Value(bytes)}};
  row.samples = {us * 1e3};
  return row;
}

TEST(SettingsRace, EachSizeHasItsOwnBest) {
  SettingsRace race({kUnset, mode("small"), mode("large"), mode("never")});
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1, 0.01);
  for (int round = 0; round < 8; ++round) {
    std::vector<harness::Row> rows;
    for (std::size_t place = 0; place < 4; ++place) {
      if (!race.is_in(place)) continue;
      const double small[] = {10, 5, 12, 30};
      const double large[] = {100, 150, 40, 300};
      rows.push_back(row_of(race.settings()[place], 8, small[place] * noise(random)));
      rows.push_back(row_of(race.settings()[place], 1 << 20, large[place] * noise(random)));
    }
    race.add_round(rows);
  }
  EXPECT_FALSE(race.is_in(3)) << "it is slower at both sizes";
  EXPECT_TRUE(race.is_in(1));
  const std::vector<BestSettings> best = race.judged(race.choices());
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].best, 1U);
  EXPECT_NEAR(best[0].ratio.ratio, 2, 0.1);
  EXPECT_EQ(best[1].best, 2U);
  EXPECT_EQ(race.choice_overall(), 2U) << "2.5 times at one size, 0.83 at the other";
  const auto ranges = ranges_of(best, race.settings());
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].first, static_cast<std::uint64_t>(std::sqrt(8.0 * (1 << 20))));
  EXPECT_EQ(ranges[1].second, mode("large"));
}

// What only looks faster changes nothing.
TEST(SettingsRace, WithoutASureWinnerAllStaysAsItIs) {
  SettingsRace race({kUnset, mode("a"), mode("b")});
  std::mt19937 random(11);
  std::normal_distribution<double> noise(1, 0.1);
  for (int round = 0; round < 8; ++round) {
    std::vector<harness::Row> rows;
    for (const Settings& each : race.settings()) rows.push_back(row_of(each, 64, 10 * std::abs(noise(random))));
    race.add_round(rows);
  }
  const std::vector<BestSettings> best = race.judged(race.choices());
  ASSERT_EQ(best.size(), 1U);
  EXPECT_EQ(best[0].best, 0U);
  EXPECT_NE(race.judged_overall(race.choice_overall()).verdict, harness::Verdict::faster);
}

// One that is surely faster goes before one that looks faster yet, and is not sure.
TEST(SettingsRace, ASureWinnerIsChosenBeforeANoisyOne) {
  SettingsRace race({kUnset, mode("sure"), mode("noisy")});
  const double noisy[] = {5, 14, 5, 14, 5, 14, 5, 5};
  for (const double us : noisy)
    race.add_round({row_of(kUnset, 64, 10), row_of(mode("sure"), 64, 8), row_of(mode("noisy"), 64, us)});
  EXPECT_EQ(race.choices().begin()->second, 1U);
}

// BYTES does not say which type is meant.
TEST(ShellFile, HasNoRangesWhereASizeHasTwoEnvironments) {
  BestSettings a;
  a.timed = {.num_ranks = 2, .what = "type=f32", .bytes = 8};
  a.best = 1;
  BestSettings b = a;
  b.timed.what = "type=f64";
  const std::vector<Settings> settings = {kUnset, mode("x")};
  EXPECT_EQ(ranges_of(std::vector<BestSettings>{a, b}, settings).size(), 1U);
  b.best = 0;
  EXPECT_TRUE(ranges_of(std::vector<BestSettings>{a, b}, settings).empty());
}

TEST(SettingsRace, WhatFailsOrIsWrongIsOut) {
  SettingsRace race({kUnset, mode("crashes"), mode("wrong")});
  harness::Row crash = row_of(mode("crashes"), 8, 1);
  crash.outcome = harness::Outcome::error;
  crash.samples.clear();
  crash.note = "exit status 139";
  harness::Row wrong = row_of(mode("wrong"), 8, 1);
  wrong.outcome = harness::Outcome::wrong;
  race.add_round({row_of(kUnset, 8, 10), crash, wrong});
  EXPECT_EQ(race.num_in(), 1U);
  ASSERT_EQ(race.failures().size(), 2U);
  EXPECT_EQ(race.failures()[0], "MODE=crashes: exit status 139");
  EXPECT_EQ(race.judged(race.choices())[0].best, 0U);
}

TEST(ShellFile, QuotesWhatValuesHold) {
  ShellFile file;
  file.remarks = {"a\nb"};
  file.overall = {{.name = "A", .value = "x'; rm -rf $HOME"}, {.name = "B", .value = std::nullopt}};
  const std::string text = to_text(file);
  EXPECT_NE(text.find("# a\\x0ab\n"), std::string::npos) << text;
  EXPECT_NE(text.find("export A='x'\\''; rm -rf $HOME'\n"), std::string::npos) << text;
  EXPECT_NE(text.find("unset B\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace tutti::cli
