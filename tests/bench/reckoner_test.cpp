// SPDX-License-Identifier: Apache-2.0
// The runner with peers that have no processes: each case once, in whatever company.
#include "bench/measure/reckoner.hpp"

#include <gtest/gtest.h>

#include "bench/measure/runner.hpp"
#include "bench/results/comparison.hpp"

namespace tutti::harness {
namespace {

// So many nanoseconds a byte; odd sizes cannot be done.
class PerByte final : public Reckoner {
 public:
  explicit PerByte(double nanos) : nanos_(nanos) {}
  [[nodiscard]] std::string version() const override { return "by hand"; }
  [[nodiscard]] std::uint64_t settings_digest(const Group&) const override { return 0; }
  [[nodiscard]] int num_ranks() const override { return 4; }
  [[nodiscard]] bool obeys(std::string_view) const override { return false; }
  void reckon(const Group&, const MeasureOptions& options, Row& row) const override {
    row.sync = Sync::virtual_time;
    const std::int64_t bytes = row.point.find("bytes")->integer();
    if (bytes % 2 != 0) {
      row.outcome = Outcome::skipped;
      row.note = "odd";
      return;
    }
    row.samples = {nanos_ * static_cast<double>(bytes)};
    row.rounds = {1};
    row.is_checked = options.check;
  }

 private:
  double nanos_;
};

struct Plan {
  std::vector<Group> groups;
  std::vector<PeerProgram> programs;
};

Plan plan_of(const std::vector<std::pair<std::string, double>>& peers) {
  Plan made;
  Sweep sweep;
  sweep.bench = "all_reduce";
  sweep.num_ranks = {4};
  sweep.axes = {{.name = "bytes", .values = {Value(8), Value(9), Value(1000)}, .peer = ""}};
  for (const auto& [name, nanos] : peers) {
    sweep.peers.push_back(name);
    made.programs.push_back({.name = name, .program = {}, .reckoner = std::make_shared<const PerByte>(nanos)});
  }
  made.groups = *plan(sweep);
  return made;
}

RunnerOptions options_of(int launches) {
  RunnerOptions options;
  options.launches = launches;
  return options;
}

TEST(Reckoner, EachCaseIsReckonedOnceHoweverManyLaunchesThereAre) {
  const Plan made = plan_of({{"slow", 3}});
  EXPECT_EQ(launches_of(made.groups[0], made.programs, 5), 1);
  Runner runner(options_of(5), made.programs, {});
  std::vector<Row> rows;
  ASSERT_TRUE(runner
                  .run("all_reduce", made.groups, {},
                       [&](const Row& row) {
                         rows.push_back(row);
                         return Status();
                       })
                  .ok());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].samples, std::vector<double>{24});
  EXPECT_TRUE(rows[0].is_checked);
  EXPECT_EQ(rows[0].peer, "slow");
  EXPECT_EQ(rows[1].note, "odd");
  EXPECT_EQ(rows[2].samples, std::vector<double>{3000});
}

// Reckons until it is told to end.
class Endless final : public Reckoner {
 public:
  [[nodiscard]] std::string version() const override { return "by hand"; }
  [[nodiscard]] std::uint64_t settings_digest(const Group&) const override { return 0; }
  [[nodiscard]] int num_ranks() const override { return 4; }
  [[nodiscard]] bool obeys(std::string_view) const override { return false; }
  void reckon(const Group&, const MeasureOptions& options, Row& row) const override {
    while (!options.is_interrupted()) row.note = "half done";
  }
};

TEST(Reckoner, IsEndedWhereItTakesLongerThanAnAnswerMay) {
  Plan made = plan_of({{"slow", 3}});
  made.programs[0].reckoner = std::make_shared<const Endless>();
  RunnerOptions options = options_of(1);
  options.limits.answer = Nanos(2'000'000);
  std::vector<Row> rows;
  const auto keep = [&](const Row& row) {
    rows.push_back(row);
    return Status();
  };
  ASSERT_TRUE(Runner(options, made.programs, {}).run("all_reduce", made.groups, {}, keep).ok());
  const auto keep_all = [&](std::span<const Row> of_case) {
    rows.insert(rows.end(), of_case.begin(), of_case.end());
    return Status();
  };
  ASSERT_TRUE(Runner(options, made.programs, {}).compare("all_reduce", made.groups, {}, keep_all).ok());
  ASSERT_EQ(rows.size(), 6U);
  for (const Row& row : rows) {
    EXPECT_EQ(row.outcome, Outcome::error);
    EXPECT_EQ(row.note, "slow has not answered within 2ms");
  }
}

TEST(Reckoner, WhatIsDoneAlreadyIsLeftOut) {
  const Plan made = plan_of({{"slow", 3}});
  Runner runner(options_of(1), made.programs, {});
  std::set<std::string> done;
  const auto note = [&](const Row& row) {
    done.insert(key_of(row));
    return Status();
  };
  ASSERT_TRUE(runner.run("all_reduce", made.groups, {}, note).ok());
  int more = 0;
  ASSERT_TRUE(runner
                  .run("all_reduce", made.groups, done,
                       [&](const Row&) {
                         ++more;
                         return Status();
                       })
                  .ok());
  EXPECT_EQ(more, 0);
}

TEST(Reckoner, TimesWithoutNoiseAreComparedAsTheyAre) {
  const Plan made = plan_of({{"slow", 3}, {"fast", 2}, {"alike", 2.01}});
  Runner runner(options_of(7), made.programs, {});
  std::vector<Row> rows;
  ASSERT_TRUE(runner
                  .compare("all_reduce", made.groups, {},
                           [&](std::span<const Row> of_case) {
                             rows.insert(rows.end(), of_case.begin(), of_case.end());
                             return Status();
                           })
                  .ok());
  ASSERT_EQ(rows.size(), 9U);
  const Comparison comparison = Comparison::of_peers(join_launches(rows), true);
  ASSERT_EQ(comparison.cases.size(), 3U);
  const auto against = [&](std::size_t a, std::size_t b) { return *comparison.compare(comparison.cases[2], a, b); };
  EXPECT_DOUBLE_EQ(against(1, 0).ratio, 1.5);
  EXPECT_DOUBLE_EQ(against(1, 0).interval->low, 1.5);
  EXPECT_EQ(against(1, 0).verdict, Verdict::faster);
  EXPECT_EQ(against(0, 1).verdict, Verdict::slower);
  EXPECT_EQ(against(1, 2).verdict, Verdict::same);
  EXPECT_FALSE(comparison.compare(comparison.cases[1], 0, 1)) << "skipped";
  const std::vector<Standing> standings = standings_of(comparison);
  EXPECT_EQ(standings[2].best, 1U);
  EXPECT_EQ(standings[2].ties, std::vector<std::size_t>{2});
}

}  // namespace
}  // namespace tutti::harness
