// SPDX-License-Identifier: Apache-2.0
// Columns and lines that are made of rows; made up, so without a clock.
#include "bench/views/views.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

Row row_of(const std::string& peer) {
  Row row;
  row.bench = "b";
  row.peer = peer;
  return row;
}

TEST(Views, NoTwoColumnsHaveOneName) {
  Row row = row_of("p");
  row.settings = {{"M", "1"}, {"bench", "2"}};
  row.point.values = {{"M", 3}, {"counter.M", 4}, {"N", 5}};
  row.counters = {{"M", 6}, {"N", 7}, {"O", 8}, {"samples", 9}};
  const View view = View::of({row});
  std::set<std::string> names;
  for (const Column& column : view.columns()) EXPECT_TRUE(names.insert(column.name).second) << column.name;
  for (const char* name : {"M", "env.bench", "axis.M", "counter.M", "counter.counter.M", "counter.N", "O"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(view.cells(row).size(), view.columns().size());
}

TEST(Views, AFewSamplesHaveNoOutliers) {
  Row row = row_of("p");
  row.samples = {10, 10, 10, 10, 50, 60};
  row.rounds = {1, 1, 1, 1, 1, 1};
  EXPECT_EQ(warnings(row), "") << "two of six averages tell nothing of the others";
  row.samples.assign(16, 10);
  row.samples.insert(row.samples.end(), {50, 60, 70, 80});
  row.rounds = {20};
  EXPECT_EQ(warnings(row), "20 % outliers");
}

TEST(Views, ALineShowsWhatATerminalWouldObey) {
  Row row = row_of("p\x1b[2J");
  row.point.values = {{"n", "\x07"}};
  row.outcome = Outcome::error;
  EXPECT_EQ(in_a_line(row).find('\x1b'), std::string::npos) << in_a_line(row);
  EXPECT_EQ(in_a_line(row).find('\x07'), std::string::npos);
}

}  // namespace
}  // namespace tutti::harness
