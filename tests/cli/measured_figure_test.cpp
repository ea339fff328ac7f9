// SPDX-License-Identifier: Apache-2.0
// Pictures of measurements: what is drawn of rows, and that many of them stay readable.
#include "cli/bench/output/measured_figure.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../base/temporary_folder.hpp"
#include "../report/svg_check.hpp"
#include "calling.hpp"
#include "cli/bench/bench_commands.hpp"

namespace tutti::cli {
namespace {

using harness::Row;

// Ten rounds of a sample each, about this time.
Row row_of(const std::string& peer, int num_ranks, std::int64_t bytes, double nanoseconds) {
  Row row;
  row.bench = "all_reduce";
  row.peer = peer;
  row.num_ranks = num_ranks;
  if (bytes > 0) row.point.values.emplace_back("bytes", harness::Value(bytes));
  for (int round = -5; round < 5; ++round) {
    row.samples.push_back(nanoseconds * (1 + 0.01 * round));
    row.rounds.push_back(1);
  }
  row.message = harness::Message{.bytes = static_cast<double>(bytes), .traffic = Traffic::all_reduce};
  return row;
}

harness::StoredRun some_run() {
  harness::StoredRun run;
  run.id = 12;
  run.begun = "2026-11-24T03:00:00Z";
  run.command = "tutti run --peer a,b";
  run.machine = "a processor; 2 cores";
  run.is_complete = true;
  return run;
}

std::vector<Row> sweep(int num_competitors, const std::vector<int>& all_num_ranks) {
  std::vector<Row> rows;
  for (const int num_ranks : all_num_ranks)
    for (int each = 0; each < num_competitors; ++each)
      for (std::int64_t bytes = 64; bytes <= 1 << 20; bytes *= 4)
        rows.push_back(row_of("peer" + std::to_string(each), num_ranks, bytes,
                              1000.0 * (each + 1) + static_cast<double>(bytes) / (each + 1)));
  return rows;
}

TEST(MeasuredFigure, HasALineForEachCompetitorWithItsIntervals) {
  const std::string svg = measured_to_svg(sweep(2, {4}), some_run(), Quantity::time);
  test::expect_readable(svg, 1200, 600);
  test::expect_keys_occur(svg);
  for (const char* words :
       {">all_reduce: time over bytes</text>", ">peer0</text>", ">peer1</text>", "num_ranks=4",
        "run 12, 2026-11-24T03:00:00Z: tutti run --peer a,b", ">a processor; 2 cores</text>", ">time, us</text>"})
    EXPECT_TRUE(contains(svg, words)) << words;
  EXPECT_EQ(count_of(svg, "<path class=\"line\""), 2U);
  // A point, and the whisker of its interval.
  EXPECT_EQ(count_of(svg, "<title>peer0, 64: 1.059, 1."), 2U) << svg;
  EXPECT_FALSE(contains(svg, "left out"));
}

TEST(MeasuredFigure, HasAPanelForEachNumberOfRanks) {
  const std::string svg = measured_to_svg(sweep(2, {2, 4, 8}), some_run(), Quantity::time);
  for (const char* title : {">num_ranks=2</text>", ">num_ranks=4</text>", ">num_ranks=8</text>"})
    EXPECT_EQ(count_of(svg, title), 1U) << title;
  EXPECT_EQ(count_of(svg, "<path class=\"line\""), 6U);
}

TEST(MeasuredFigure, BandwidthIsHigherWhereTimeIsLower) {
  const std::string svg = measured_to_svg(sweep(1, {4}), some_run(), Quantity::bus_bandwidth);
  // 64 bytes in 1.059 us, times 2 · 3 / 4.
  EXPECT_TRUE(contains(svg, "<title>peer0, 64: 0.0906")) << svg;
  EXPECT_TRUE(contains(svg, ">bus bandwidth, GB/s</text>"));
  // One rank has no bus.
  const std::string none = measured_to_svg(sweep(1, {1}), some_run(), Quantity::bus_bandwidth);
  EXPECT_TRUE(contains(none, "nothing to draw") && contains(none, "8 rows without a bandwidth"));
}

TEST(MeasuredFigure, OfManyRowsIsReadableAndSaysWhatIsLeftOut) {
  std::vector<int> num_ranks;
  for (int each = 2; each < 22; ++each) num_ranks.push_back(each);
  const std::string svg = measured_to_svg(sweep(45, num_ranks), some_run(), Quantity::time);
  test::expect_readable(svg, 2400, 3600);
  test::expect_keys_occur(svg);
  EXPECT_TRUE(contains(svg, "left out: 8 panels, 60 lines")) << svg.substr(0, 2000);
}

TEST(MeasuredFigure, WithoutSizesIsBars) {
  std::vector<Row> rows = {row_of("a", 2, 0, 1500), row_of("b", 2, 0, 3000), row_of("c", 2, 0, 1000)};
  rows[2].samples.clear();
  rows[2].outcome = harness::Outcome::error;
  const std::string svg = measured_to_svg(rows, some_run(), Quantity::time);
  test::expect_readable(svg, 1000, 800);
  EXPECT_TRUE(contains(svg, "<title>a, time: 1.49")) << svg;
  EXPECT_TRUE(contains(svg, "<title>b, time: 2.98")) << svg;
  EXPECT_TRUE(contains(svg, "left out: 1 row without times"));
  for (Row& row : rows) row.num_ranks = 4;
  rows.push_back(row_of("a", 2, 0, 500));
  rows.push_back(row_of("b", 2, 0, 700));
  const std::string kinds = measured_to_svg(rows, some_run(), Quantity::time);
  test::expect_readable(kinds, 1000, 800);
  test::expect_keys_occur(kinds);
  EXPECT_TRUE(contains(kinds, "<title>num_ranks=4, a: 1.49")) << kinds;
  EXPECT_TRUE(contains(measured_to_svg({}, some_run(), Quantity::time), "nothing to draw"));
}

TEST(MeasuredFigure, ShowDrawsARunOfTheStore) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("results.db");
  {
    Result<harness::Store> store = harness::Store::open(path);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    harness::StoredRun run = some_run();
    run.bench = "all_reduce";
    const Result<std::int64_t> id = store->begin(run);
    ASSERT_TRUE(id.ok());
    ASSERT_TRUE(store->add(*id, sweep(2, {4})).ok());
    ASSERT_TRUE(store->complete(*id).ok());
  }
  const BenchWorld world;
  const auto show = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"--store", path};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return call(show_command(world), arguments);
  };
  const Outcome outcome = show({"--figure", folder.file("times.svg")});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "peer1"));
  EXPECT_TRUE(contains(folder.read("times.svg"), ">all_reduce: time over bytes</text>"));
  ASSERT_EQ(show({"--figure", folder.file("rates.svg"), "--view", "bandwidth"}).exit, Exit::done);
  EXPECT_TRUE(contains(folder.read("rates.svg"), ">all_reduce: bus bandwidth over bytes</text>"));
  EXPECT_TRUE(contains(show({"--view", "bandwidth"}).error, "--view bandwidth is for --figure"));
  EXPECT_TRUE(contains(show({"--figure", "/proc/none/x"}).error, "--figure: cannot write '/proc/none/x'"));
  const std::string one = folder.file("one");
  EXPECT_TRUE(contains(show({"--figure", one, "-o", one}).error, "give two files"));
}

}  // namespace
}  // namespace tutti::cli
