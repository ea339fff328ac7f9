// SPDX-License-Identifier: Apache-2.0
// What is shown of rows side by side; made up, so without a clock.
#include "bench/results/comparison.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "bench/results/comparison_by.hpp"
#include "bench/store/run_difference.hpp"
#include "bench/views/comparison_text.hpp"

namespace tutti::harness {
namespace {

Row row_of(const std::string& peer, std::int64_t bytes, double micros, std::vector<Setting> settings = {}) {
  Row row;
  row.bench = "all_reduce";
  row.peer = peer;
  row.num_ranks = 2;
  row.settings = std::move(settings);
  row.point.values = {{"bytes", bytes}};
  row.message = Message{static_cast<double>(bytes), Traffic::all_reduce};
  row.is_checked = true;
  row.stop = Stop::precise;
  for (int round = 0; round < 20; ++round) {
    row.samples.push_back(micros * 1000);
    row.rounds.push_back(1);
  }
  row.launches.assign(10, 2);
  return row;
}

// The same rounds in fewer launches.
Row in_launches(Row row, std::vector<std::uint32_t> launches) {
  row.launches = std::move(launches);
  return row;
}

Cell cell(const Table& table, std::size_t row, const std::string& column) {
  for (std::size_t each = 0; each < table.columns().size(); ++each)
    if (table.columns()[each].name == column) return table.rows()[row][each];
  ADD_FAILURE() << "no column " << column;
  return {};
}

TEST(ComparisonTest, PairsWithTheFirst) {
  const Comparison comparison =
      Comparison::of_peers({row_of("a", 8, 10), row_of("b", 8, 20), row_of("a", 64, 30), row_of("b", 64, 30)}, true);
  const Table table = table_of_pairs(comparison);
  ASSERT_EQ(table.rows().size(), 2U);
  EXPECT_EQ(cell(table, 0, "a_us"), Cell(10.0));
  EXPECT_EQ(cell(table, 0, "b_us"), Cell(20.0));
  EXPECT_EQ(cell(table, 0, "b_ratio"), Cell(0.5)) << "the first one's time over b's";
  EXPECT_EQ(cell(table, 0, "b_verdict"), Cell("slower"));
  EXPECT_EQ(cell(table, 1, "b_verdict"), Cell("same"));
  EXPECT_EQ(cell(table, 1, "check"), Cell("ok"));
}

TEST(ComparisonTest, ACaseThatOneDoesNotHave) {
  Row skipped = row_of("b", 8, 20);
  skipped.outcome = Outcome::skipped;
  skipped.note = "not today";
  const Comparison comparison = Comparison::of_peers({row_of("a", 8, 10), skipped, row_of("b", 64, 30)}, true);
  const Table table = table_of_pairs(comparison);
  EXPECT_EQ(cell(table, 0, "b_us"), Cell("skipped"));
  EXPECT_EQ(cell(table, 0, "note"), Cell("b: skipped: not today"));
  EXPECT_EQ(cell(table, 1, "a_us"), Cell());
  EXPECT_EQ(cell(table, 1, "b_verdict"), Cell());
}

TEST(ComparisonTest, WhatIsWrongGetsNoVerdict) {
  Row wrong = row_of("b", 8, 20);
  wrong.outcome = Outcome::wrong;
  wrong.note = "rank 1: 7 is 8";
  const Comparison comparison = Comparison::of_peers({row_of("a", 8, 10), wrong}, true);
  EXPECT_FALSE(comparison.compare(comparison.cases[0], 1, 0));
  EXPECT_EQ(cell(table_of_pairs(comparison), 0, "check"), Cell("wrong"));
  EXPECT_EQ(cell(table_of_best(comparison, 0), 0, "best"), Cell("a"));
}

TEST(ComparisonTest, VariablesThatDifferAreNamesAndOthersColumns) {
  const Comparison comparison = Comparison::of_peers(
      {row_of("a", 8, 10, {{"X", "1"}, {"Y", "2"}}), row_of("a", 8, 20, {{"X", "1"}, {"Y", "3"}})}, true);
  EXPECT_EQ(comparison.competitors, (std::vector<std::string>{"a Y=2", "a Y=3"}));
  const Table table = table_of_pairs(comparison);
  EXPECT_EQ(cell(table, 0, "X"), Cell(VariableCell{"1"}));
  for (const Column& column : table.columns()) EXPECT_NE(column.name, "Y");
}

TEST(ComparisonTest, TheBestWithItsSpeedUpAndItsTies) {
  const Comparison comparison = Comparison::of_peers(
      {row_of("a", 1000, 10), row_of("b", 1000, 5), row_of("c", 1000, 5.05), row_of("d", 1000, 6)}, true);
  const Table table = table_of_best(comparison, 0);
  ASSERT_EQ(table.rows().size(), 1U);
  EXPECT_EQ(cell(table, 0, "best"), Cell("b"));
  EXPECT_EQ(cell(table, 0, "best_us"), Cell(5.0));
  EXPECT_EQ(cell(table, 0, "speedup"), Cell(2.0));
  EXPECT_EQ(cell(table, 0, "speedup_interval"), Cell("2.000-2.000"));
  EXPECT_EQ(cell(table, 0, "ties"), Cell("c"));
  EXPECT_EQ(cell(table, 0, "busbw_gbs"), Cell(0.2)) << "2 (n - 1) / n is 1 for two ranks";
  EXPECT_EQ(cell(table, 0, "d_us"), Cell(6.0));
  EXPECT_EQ(cell(table, 0, "b_p99_us"), Cell()) << "of twenty samples";
  EXPECT_EQ(cell(table_of_best(comparison, 3), 0, "speedup"), Cell(1.2));
}

TEST(ComparisonTest, AVerdictNeedsAnIntervalOverLaunches) {
  EXPECT_FALSE(median_bounds(kLeastLaunches - 1, kConfidence));
  EXPECT_TRUE(median_bounds(kLeastLaunches, kConfidence));
  const auto compared = [](std::vector<std::uint32_t> launches) {
    return Comparison::of_peers({in_launches(row_of("a", 8, 10), launches), in_launches(row_of("b", 8, 20), launches)},
                                true);
  };
  const Comparison once = compared({20});
  EXPECT_EQ(cell(table_of_pairs(once), 0, "b_ratio"), Cell(0.5));
  EXPECT_EQ(cell(table_of_pairs(once), 0, "b_interval"), Cell());
  EXPECT_EQ(cell(table_of_pairs(once), 0, "b_verdict"), Cell("undecided"));
  EXPECT_EQ(cell(table_of_pairs(once), 0, "launches"), Cell(std::int64_t{1}));
  EXPECT_EQ(lacking_launches(once), "1 launch: no interval over launches and so no verdict; a verdict needs 6 or more");
  EXPECT_EQ(cell(table_of_best(once, 0), 0, "ties"), Cell()) << "there the rounds will do";
  EXPECT_EQ(cell(table_of_best(once, 1), 0, "speedup_interval"), Cell("2.000-2.000"));
  EXPECT_EQ(cell(table_of_pairs(compared({4, 4, 4, 4, 4})), 0, "b_verdict"), Cell("undecided"));
  const Comparison enough = compared({4, 4, 4, 4, 2, 2});
  EXPECT_EQ(cell(table_of_pairs(enough), 0, "b_verdict"), Cell("slower"));
  EXPECT_EQ(cell(table_of_pairs(enough), 0, "b_ratio_high"), Cell(0.5));
  EXPECT_EQ(lacking_launches(enough), "");
  // Runs of the store, too.
  const Comparison runs = Comparison::of_runs({in_launches(row_of("a", 8, 10), {20}), row_of("a", 64, 10)},
                                              {row_of("a", 8, 20), row_of("a", 64, 20)}, {"run 1", "run 2"});
  EXPECT_EQ(cell(table_of_pairs(runs), 0, "run 2_verdict"), Cell("undecided"));
  EXPECT_EQ(cell(table_of_pairs(runs), 1, "run 2_verdict"), Cell("slower"));
  EXPECT_EQ(lacking_launches(runs),
            "1 launch in 1 of 2 cases: no interval over launches and so no verdict; a verdict needs 6 or more");
}

TEST(ComparisonTest, TablesNameTheBaseline) {
  const Comparison comparison = Comparison::of_peers({row_of("a", 8, 10), row_of("b", 8, 20)}, true);
  EXPECT_EQ(cell(table_of_best(comparison, 1), 0, "baseline"), Cell("b"));
  EXPECT_EQ(cell(table_of_best(comparison, 1), 0, "speedup"), Cell(2.0));
  EXPECT_EQ(cell(table_of_best(comparison, 0), 0, "baseline"), Cell("a"));
  EXPECT_TRUE(text_of_best(comparison, 1, 200).starts_with("speedup over b\n"));
}

TEST(ComparisonTest, SettingsOfAnUnnamedProgramAreNamedByTheirDifference) {
  const Comparison comparison = Comparison::of_peers(
      {row_of("command", 8, 10, {{"X", "1"}, {"Y", "2"}}), row_of("command", 8, 20, {{"X", "1"}, {"Y", {}}})}, true);
  EXPECT_EQ(comparison.competitors, (std::vector<std::string>{"Y=2", "Y=unset"}));
}

TEST(RunDifferences, AreOfVariablesAndAxesWithOneValueInEachRun) {
  const std::vector<Row> first = {row_of("a", 8, 10, {{"X", "16"}, {"Y", "1"}, {"Z", {}}}),
                                  row_of("a", 64, 10, {{"X", "16"}, {"Y", "2"}, {"Z", {}}})};
  std::vector<Row> second = {row_of("a", 8, 10, {{"X", "32"}, {"Y", "1"}}),
                             row_of("a", 64, 10, {{"X", "32"}, {"Y", "2"}})};
  const std::vector<RunDifference> differences = differences_of(first, second);
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].name, "X");
  EXPECT_EQ(differences[0].first, "16");
  EXPECT_EQ(differences[0].second, "32");
  EXPECT_EQ(differences[1].name, "Z");
  EXPECT_EQ(differences[1].first, "unset");
  EXPECT_EQ(differences[1].second, "not set");
  for (Row& row : second) row.settings = {{"X", "16"}, row.settings[1], {"Z", {}}};
  EXPECT_TRUE(differences_of(first, second).empty());
  EXPECT_TRUE(differences_of(first, {}).empty()) << "one was interrupted before it had a row";
  second.pop_back();
  const std::vector<RunDifference> of_axis = differences_of({first[1]}, second);
  ASSERT_EQ(of_axis.size(), 2U);
  EXPECT_EQ(of_axis[1].name, "bytes");
  EXPECT_EQ(of_axis[1].first, "64");
}

TEST(RunDifferences, CasesMergeWithoutAVariableOnlyIfItHadOneValue) {
  const std::vector<Row> rows = {row_of("a", 8, 10, {{"X", "16"}}), row_of("a", 64, 10, {{"X", "16"}})};
  const Result<std::vector<Row>> stripped = without(rows, "X");
  ASSERT_TRUE(stripped.ok());
  EXPECT_TRUE(stripped->front().settings.empty());
  EXPECT_EQ(without(rows, "Y")->front().settings.size(), 1U);
  const Result<std::vector<Row>> several = without(rows, "bytes");
  ASSERT_FALSE(several.ok());
  EXPECT_NE(several.status().message().find("several values of bytes"), std::string_view::npos);
}

TEST(ComparisonTest, TheBestIsChosenByOneHalfAndScoredByTheOther) {
  // b is lucky in even rounds and no faster in odd ones.
  Row lucky = row_of("b", 1000, 10);
  for (std::size_t round = 0; round < lucky.samples.size(); round += 2) lucky.samples[round] = 5000;
  const Table table = table_of_best(Comparison::of_peers({row_of("a", 1000, 10), lucky}, true), 0);
  EXPECT_EQ(cell(table, 0, "best"), Cell("b"));
  EXPECT_EQ(cell(table, 0, "best_us"), Cell(10.0));
  EXPECT_EQ(cell(table, 0, "speedup"), Cell(1.0));
  EXPECT_EQ(cell(table, 0, "ties"), Cell("a"));
}

TEST(ComparisonTest, NotesAreOfAllWhereAllHaveThemWhateverTheirNames) {
  std::vector<Row> rows = {row_of("a", 8, 10, {{"X", "1,2"}}), row_of("a", 8, 10, {{"X", "3"}}),
                           row_of("a", 8, 10, {{"X", "4"}})};
  rows[0].note = rows[1].note = "odd";
  Comparison comparison = Comparison::of_peers(rows, true);
  EXPECT_EQ(notes_of(comparison, comparison.cases[0]), "a X=1,2, a X=3: odd");
  rows[2].note = "odd";
  comparison = Comparison::of_peers(rows, true);
  EXPECT_EQ(notes_of(comparison, comparison.cases[0]), "odd");
}

TEST(ComparisonTest, WhatAllHaveSkippedIsNotOk) {
  std::vector<Row> rows = {row_of("a", 8, 10), row_of("b", 8, 20)};
  for (Row& row : rows) row.outcome = Outcome::skipped;
  Comparison comparison = Comparison::of_peers(rows, true);
  EXPECT_EQ(cell(table_of_pairs(comparison), 0, "check"), Cell("skipped"));
  rows[1].outcome = Outcome::ok;
  comparison = Comparison::of_peers(rows, true);
  EXPECT_EQ(cell(table_of_pairs(comparison), 0, "check"), Cell("ok"));
}

TEST(ComparisonTest, ARunAgainstItselfHasTwoNames) {
  const std::vector<Row> rows = {row_of("a", 8, 10)};
  const Comparison comparison = Comparison::of_runs(rows, rows, {"run 3", "run 3"});
  EXPECT_EQ(comparison.competitors, (std::vector<std::string>{"run 3", "run 3 #2"}));
}

TEST(ComparisonTest, RunsAreMatchedByCase) {
  const Comparison comparison = Comparison::of_runs({row_of("a", 8, 10), row_of("b", 8, 10)},
                                                    {row_of("b", 8, 20), row_of("c", 8, 1)}, {"run 1", "run 2"});
  ASSERT_EQ(comparison.cases.size(), 3U);
  const Table table = table_of_pairs(comparison);
  EXPECT_EQ(cell(table, 1, "peer"), Cell("b"));
  EXPECT_EQ(cell(table, 1, "run 2_verdict"), Cell("slower"));
  EXPECT_EQ(cell(table, 0, "run 2_us"), Cell());
  EXPECT_EQ(cell(table, 2, "run 1_us"), Cell());
}

TEST(ComparisonTest, TheBestIsTurnedWhereItIsTooWide) {
  Row skipped = row_of("third", 64, 30);
  skipped.outcome = Outcome::skipped;
  const Comparison comparison =
      Comparison::of_peers({row_of("first", 8, 10), row_of("second", 8, 20), row_of("third", 8, 10),
                            row_of("first", 64, 1234), row_of("second", 64, 20), skipped},
                           true);
  EXPECT_EQ(text_of_best(comparison, 1, 200), "speedup over second\n" +
                                                  to_aligned(without_empty_columns(table_of_best(comparison, 1))) +
                                                  "note: third at 64: skipped\n");
  EXPECT_EQ(text_of_best(comparison, 1, 80),
            "bench=all_reduce ranks=2\n"
            "speedup over second\n"
            "bytes  best    best_us  busbw_gbs  speedup  speedup_     check\n"
            "                                            interval\n"
            "    8  first        10     0.0008        2  2.000-2.000  ok\n"
            "   64  second       20     0.0032        1  -            ok\n"
            "\n"
            "us (* best, = tied with it)  bytes=8  bytes=64\n"
            "first                        10 *        1234\n"
            "second                       20            20 *\n"
            "third                        10 =     skipped\n"
            "note: third at 64: skipped\n");
}

TEST(ComparisonTest, TheBestOfManyFitsALine) {
  std::vector<Row> rows;
  for (int peer = 0; peer < 40; ++peer)
    for (int size = 0; size < 12; ++size)
      rows.push_back(row_of("a_long_name_" + std::to_string(peer), 1000 + size, 10 + peer));
  const std::string text = text_of_best(Comparison::of_peers(rows, true), 0, 100);
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 100U) << line;
  for (int size = 0; size < 12; ++size)
    EXPECT_NE(text.find("bytes=" + std::to_string(1000 + size)), std::string::npos) << size;
}

// A program may be called anything; what people read and scripts look up stays one column each.
TEST(ComparisonTest, NoTwoColumnsHaveOneName) {
  Row axis_of_table = row_of("best", 8, 3);
  axis_of_table.point.values.emplace_back("speedup", Value(1));
  axis_of_table.point.values.emplace_back("b_us", Value(1));
  std::vector<Row> rows = {axis_of_table, axis_of_table, axis_of_table, axis_of_table};
  rows[1].peer = "b";
  rows[2].peer = "b_low";
  rows[3].peer = "best_speedup";
  const Comparison comparison = Comparison::of_peers(rows, false);
  for (const Table& table : {table_of_best(comparison, 0), table_of_pairs(comparison)}) {
    std::set<std::string> names;
    for (const Column& column : table.columns()) names.insert(column.name);
    EXPECT_EQ(names.size(), table.columns().size()) << render(table, Format::csv);
  }
  const Table best = table_of_best(comparison, 0);
  EXPECT_EQ(cell(best, 0, "peer.best_us"), Cell(3.0));
  EXPECT_EQ(cell(best, 0, "best"), Cell("best"));
  EXPECT_EQ(cell(best, 0, "axis.speedup"), Cell(std::int64_t{1}));
}

TEST(ComparisonTest, InShortForEachNumberOfRanks) {
  std::vector<Row> rows;
  const auto add = [&](int num_ranks, const std::string& peer, std::int64_t bytes, double micros) {
    rows.push_back(row_of(peer, bytes, micros));
    rows.back().num_ranks = num_ranks;
  };
  for (const int num_ranks : {2, 4}) {
    for (const std::int64_t bytes : {8, 64, 512}) add(num_ranks, "a", bytes, 30);
    add(num_ranks, "b", 8, 20);                          // +50 %
    add(num_ranks, "b", 64, 40);                         // -25 %
    add(num_ranks, "b", 512, num_ranks == 2 ? 30 : 15);  // 0 %, or +100 %
  }
  rows.push_back(rows.back());
  rows.back().point.values[0].second = std::int64_t{4096};
  rows.back().num_ranks = 8;  // of b alone: nothing to compare
  const Comparison comparison = Comparison::of_peers(rows, true);
  const Result<Table> table = table_by(comparison, "ranks");
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  ASSERT_EQ(table->rows().size(), 3U);
  EXPECT_EQ(
      to_markdown(*table),
      "| ranks | competitor | cases | mean_percent | least_percent | greatest_percent | faster | same | undecided "
      "| slower | missing | slower_at |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
      "| 2 | b | 3 | 4.004 | -25 | 50 | 1 | 1 | 0 | 1 | 0 | bytes=64 |\n"
      "| 4 | b | 3 | 31.04 | -25 | 100 | 2 | 0 | 0 | 1 | 0 | bytes=64 |\n"
      "| 8 | b | 0 | - | - | - | 0 | 0 | 0 | 0 | 1 | - |\n");
  const Result<Table> by_size = table_by(comparison, "bytes");
  ASSERT_TRUE(by_size.ok());
  EXPECT_EQ(cell(*by_size, 1, "slower_at"), Cell("ranks=2, ranks=4"));
  // Times of 0, which simulations of one rank may have, are compared and have no rate, whoever is the first.
  const auto exact = [](const std::string& peer, std::int64_t bytes, double micros) {
    Row row = row_of(peer, bytes, micros);
    row.samples.resize(1);
    row.rounds.resize(1);
    row.launches = {1};
    row.sync = Sync::virtual_time;
    return row;
  };
  const Comparison nothing = Comparison::of_peers({exact("a", 8, 0), exact("b", 8, 1), exact("a", 64, 2),
                                                   exact("b", 64, 1), exact("a", 512, 1), exact("b", 512, 0)},
                                                  false);
  EXPECT_EQ(to_csv(*table_by(nothing, "ranks")),
            "ranks,competitor,cases,mean_percent,least_percent,greatest_percent,faster,same,undecided,slower,missing,"
            "slower_at\n"
            "2,b,3,100,100,100,2,0,0,1,0,bytes=8\n");
  EXPECT_EQ(to_csv(*table_by(nothing, "num_ranks")), to_csv(*table_by(nothing, "ranks")));  // as the axis is called
  const Result<Table> wrong = table_by(comparison, "rank");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().message(), "--by is 'rank'; what tells cases apart is bench, ranks, bytes");
}

}  // namespace
}  // namespace tutti::harness
