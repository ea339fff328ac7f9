// SPDX-License-Identifier: Apache-2.0
// The words of reports: that they say what the rows say.
#include "cli/report/answer.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../calling.hpp"
#include "made_up_runs.hpp"

namespace tutti::cli {
namespace {

using harness::Comparison;
using harness::Row;
using test::report_row;

Answer answer_of_rows(const std::vector<Row>& rows) { return answer_of(Comparison::of_peers(rows, false)); }

std::vector<Row> peers_with_times(const std::vector<std::pair<std::string, double>>& peers, int num_ranks = 2) {
  std::vector<Row> rows;
  for (const std::int64_t bytes : {8, 65536})
    for (const auto& [peer, time] : peers) rows.push_back(report_row(peer, num_ranks, bytes, time));
  return rows;
}

TEST(ReportAnswer, NamesTheFastestAndByHowMuch) {
  const Answer answer = answer_of_rows(peers_with_times({{"slow", 5000}, {"fast", 1000}, {"middle", 2000}}));
  ASSERT_EQ(answer.sentences.size(), 2U);
  EXPECT_EQ(answer.sentences[0],
            "fast is the fastest for all_reduce on 2 ranks: 2.0 times as fast as middle and 5.0 times as fast as slow "
            "(geometric mean over 8 B to 64 KB).");
  EXPECT_EQ(answer.sentences[1], "fast has the least time at each of the 2 sizes.");
  EXPECT_TRUE(answer.cautions.empty());
}

TEST(ReportAnswer, SaysWhereAnotherIsFastest) {
  const Answer answer = answer_of_rows(test::crossing_rows());
  ASSERT_EQ(answer.sentences.size(), 2U);
  EXPECT_EQ(answer.sentences[1], "The fastest by size: a from 1 KB to 16 KB and b from 64 KB to 1 MB.");
  ASSERT_EQ(answer.summaries.size(), 2U);
  EXPECT_EQ(answer.summaries[0].title, "Who is fastest where");
  const auto& rows = answer.summaries[0].table.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(rows[1][0]), "64 KB");
  EXPECT_EQ(std::get<std::string>(rows[1][2]), "b");
  EXPECT_EQ(std::get<std::string>(rows[1][3]), "2.0");
}

TEST(ReportAnswer, DoesNotCallOneFastestThatIsAlike) {
  const Answer answer = answer_of_rows(peers_with_times({{"a", 1000}, {"b", 1010}, {"c", 3000}}));
  EXPECT_EQ(answer.sentences[0],
            "a and b are about equally fast for all_reduce on 2 ranks (geometric mean over 8 B to 64 KB); the first is "
            "3.0 times as fast as c.");
}

TEST(ReportAnswer, SaysThatTheFastestIsSoOverall) {
  const Answer answer = answer_of_rows({report_row("a", 2, 8, 1000), report_row("b", 2, 8, 2000),
                                        report_row("a", 2, 65536, 3000), report_row("b", 2, 65536, 2000)});
  EXPECT_EQ(
      answer.sentences[0],
      "a is the fastest overall for all_reduce on 2 ranks: 1.15 times as fast as b (geometric mean over 8 B to 64 "
      "KB).");
  EXPECT_EQ(answer.sentences[1], "The fastest by size: a at 8 B and b at 64 KB.");
}

TEST(ReportAnswer, OfManyNamesTheNearestOnly) {
  const Answer answer =
      answer_of_rows(peers_with_times({{"a", 1000}, {"b", 1500}, {"c", 3000}, {"d", 2000}, {"e", 9000}}));
  EXPECT_EQ(
      answer.sentences[0],
      "a is the fastest for all_reduce on 2 ranks: 1.50 times as fast as b and faster than 3 more (geometric mean "
      "over 8 B to 64 KB).");
}

TEST(ReportAnswer, HasASentenceForEachNumberOfRanks) {
  std::vector<Row> rows = peers_with_times({{"a", 1000}, {"b", 2000}});
  const std::vector<Row> more = peers_with_times({{"a", 9000}, {"b", 3000}}, 4);
  rows.insert(rows.end(), more.begin(), more.end());
  const Answer answer = answer_of_rows(rows);
  ASSERT_EQ(answer.sentences.size(), 4U);
  EXPECT_TRUE(answer.sentences[0].starts_with("a is the fastest for all_reduce with 2 ranks: 2.0 times"));
  EXPECT_TRUE(answer.sentences[2].starts_with("b is the fastest for all_reduce with 4 ranks: 3.0 times"));
}

TEST(ReportAnswer, SaysThatVerdictsNeedLaunches) {
  std::vector<Row> rows = peers_with_times({{"a", 1000}, {"b", 2000}});
  for (Row& row : rows) row.launches = {80};
  const Answer answer = answer_of_rows(rows);
  ASSERT_EQ(answer.cautions.size(), 1U);
  EXPECT_TRUE(answer.cautions[0].words.starts_with("No verdict is sure: 1 launch"));
}

TEST(ReportAnswer, SaysWhatIsUndecided) {
  std::vector<Row> rows = peers_with_times({{"a", 1000}, {"b", 1100}});
  // Launches that differ more than the peers do.
  for (Row& row : rows)
    for (std::size_t each = 0; each < row.samples.size(); ++each) row.samples[each] *= each / 10 % 2 == 0 ? 0.8 : 1.25;
  const Answer answer = answer_of_rows(rows);
  ASSERT_EQ(answer.cautions.size(), 1U);
  EXPECT_EQ(answer.cautions[0].words, "Whether a is faster is undecided against b (in 2 of 2).");
}

TEST(ReportAnswer, OfOneAloneIsItsTimes) {
  const Answer answer = answer_of_rows(peers_with_times({{"a", 1000}}));
  ASSERT_EQ(answer.sentences.size(), 1U);
  EXPECT_EQ(answer.sentences[0],
            "a takes 1.00 us for 8 B and 1.00 us for 64 KB in all_reduce on 2 ranks; its bus bandwidth is at most 65.5 "
            "GB/s, at 64 KB.");
}

TEST(ReportAnswer, OfNothingSaysSo) {
  EXPECT_EQ(answer_of_rows({}).sentences, std::vector<std::string>{"There are no results."});
  Row row = report_row("a", 2, 8, 1000);
  row.outcome = harness::Outcome::error;
  row.samples.clear();
  EXPECT_EQ(answer_of_rows({row}).sentences,
            std::vector<std::string>{"None of 1 case has a right result with a time."});
}

TEST(ReportAnswer, OfACountOfZeroHasItsTime) {
  const Answer answer = answer_of_rows({report_row("a", 2, 0, 1000)});
  EXPECT_EQ(answer.sentences[0], "a takes 1.00 us for 0 B in all_reduce on 2 ranks.");
}

TEST(ReportAnswer, ChangeCountsVerdictsAndNamesTheGreatest) {
  const std::vector<Row> before = peers_with_times({{"a", 1000}, {"b", 2000}});
  std::vector<Row> after = before;
  after[0] = report_row("a", 2, 8, 500);
  after[3] = report_row("b", 2, 65536, 6000);
  after.push_back(report_row("b", 2, 1048576, 1));
  const Answer answer = answer_of_change(Comparison::of_runs(before, after, {"old", "new"}));
  ASSERT_EQ(answer.sentences.size(), 4U);
  EXPECT_EQ(answer.sentences[0], "new is 0.90 times as fast as old over 4 common cases (geometric mean; 0.33 to 2.0).");
  EXPECT_EQ(answer.sentences[1], "It is surely faster in 1, surely slower in 1 and the same in 2.");
  EXPECT_EQ(answer.sentences[2], "The greatest loss that is sure: 3.0 times the time, at peer=b 64K.");
  EXPECT_EQ(answer.sentences[3], "The greatest gain that is sure: 2.0 times as fast, at peer=a 8.");
  ASSERT_EQ(answer.cautions.size(), 1U);
  EXPECT_TRUE(contains(answer.cautions[0].words, "1 case cannot be compared"));
}

TEST(ReportCautions, NameWrongRowsAndErrorsFirst) {
  std::vector<Row> rows = peers_with_times({{"a", 1000}, {"b", 2000}});
  rows[0].outcome = harness::Outcome::wrong;
  rows[0].note = "element 3 is 7";
  rows[1].outcome = rows[3].outcome = harness::Outcome::error;
  rows[1].note = rows[3].note = "gone";
  rows[2].is_checked = false;
  const std::vector<report::Caution> cautions = cautions_of(rows);
  ASSERT_EQ(cautions.size(), 3U);
  EXPECT_EQ(cautions[0].words, "1 row with WRONG results: a at 8 B (element 3 is 7).");
  EXPECT_EQ(cautions[1].words, "2 rows could not be measured: b at 8 B and b at 64 KB (gone).");
  EXPECT_TRUE(cautions[0].is_bad && cautions[1].is_bad && !cautions[2].is_bad);
  EXPECT_EQ(cautions[2].words, "Whether results are right was not checked in 1 row.");
}

}  // namespace
}  // namespace tutti::cli
