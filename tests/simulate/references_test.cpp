// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/references.hpp"

#include <gtest/gtest.h>

#include "simulate/references/against.hpp"

namespace tutti::simulate {
namespace {

constexpr std::string_view kHead = "version = 1\nid = \"x\"\nsource = \"y\"\ndate = \"2026-01\"\n";

std::string message_of(const std::string& rest) {
  const Result<References> read = read_references(std::string(kHead) + rest, "f.toml");
  return read.ok() ? std::string() : std::string(read.status().message());
}

std::string series(const std::string& keys) { return "[[series]]\nid = \"a\"\nbytes = \"1K\"\n" + keys; }

TEST(References, EachMistakeHasItsPlace) {
  EXPECT_EQ(message_of(""), "f.toml:1: series: there are none; write [[series]]");
  EXPECT_EQ(message_of(series("values = [1, 2]")), "f.toml:8: series[0].values: there are 2, for 1 sizes");
  EXPECT_EQ(message_of(series("values = [0]")), "f.toml:8: series[0].values: 0 is no time");
  EXPECT_EQ(message_of(series("values = [1]\nmetric = \"tim\"")),
            "f.toml:9: series[0].metric: 'tim' is not time, gain or crossover");
  EXPECT_NE(message_of(series("values = [1]\nwys = 1")).find("series[0].wys: there is no such key"), std::string::npos);
  EXPECT_EQ(message_of(series("values = [1]\n[[series.ways]]\nalgorithm = \"ring\"")),
            "f.toml:9: series[0].ways[0]: it has no fabric");
  EXPECT_EQ(message_of(series("values = [1]\nmetric = \"gain\"\nways = [{fabric = \"a\", algorithm = \"ring\"}]")),
            "f.toml:5: series[0].baselines: a gain and a crossover have some, and a time has none");
  EXPECT_EQ(message_of("beyond_ranks = 2\n" + series("values = [1]")),
            "f.toml:5: beyond_ranks: 2 is no share; 0 to 1 is");
  EXPECT_EQ(message_of("unit = \"h\"\n" + series("values = [1]")), "f.toml:5: unit: 'h' is not ns, us, ms or s");
  EXPECT_EQ(message_of(series("values = [inf]")), "f.toml:8: series[0].values: its figures are numbers");
  EXPECT_EQ(message_of(series("values = [1]\nkind = \"guess\"")),
            "f.toml:9: series[0].kind: 'guess' is not reference, measured or theory");
  EXPECT_EQ(message_of(series("values = [1]\nuncertainty = -1")),
            "f.toml:9: series[0].uncertainty: -1 is none; 0 or more is");
  EXPECT_EQ(message_of("[[series]]\nid = \"a\"\nbytes = [0]\nvalues = [1]"),
            "f.toml:7: series[0].bytes: 0 bytes are no size");
  EXPECT_EQ(message_of("[[series]]\nid = \"a\"\nbytes = [8, 8]\nvalues = [1, 2]"),
            "f.toml:7: series[0].bytes: 8 is there twice");
  EXPECT_EQ(message_of(series("values = [1]")), "");
}

// A copy of the half of 1 KiB reads and writes 512 B each, at 1 GB/s.
TEST(References, AWayMayCopyEachRanksPart) {
  const std::string way = "\nways = [{ fabric = \"ring_1d:2,memory_bandwidth=1GB/s\", algorithm = \"ring\"";
  const Result<References> read =
      read_references(std::string(kHead) + series("values = [1]" + way + " }]") +
                          "\n[[series]]\nid = \"b\"\nbytes = [1024]\nvalues = [1]" + way + ", part_copies = 1 }]",
                      "f.toml");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  const Result<std::vector<Compared>> all = compare(*read, {}, nullptr);
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  EXPECT_NEAR(*all->at(1).simulated - *all->at(0).simulated, 1.024, 1e-9);
}

// On a wire of 1 us and 1 GB/s a message of 1000 B takes 2 us; the ring of two takes two of 500 B.
TEST(References, AFigureIsComparedWithTheFastestOfItsWays) {
  const Result<References> read = read_references(
      std::string(kHead) +
          "[[series]]\nid = \"a\"\ngroup = \"g\"\nbytes = [1000]\nvalues = [2.5]\n"
          "ways = [{ fabric = \"ring_1d:2,latency=1us,bandwidth=1GB/s\", algorithm = \"ring\" },\n"
          "  { fabric = \"ring_1d:2,latency=1us,bandwidth=1GB/s\", algorithm = \"recursive_doubling\" }]\n"
          "[[series]]\nid = \"b\"\ngroup = \"g\"\nbytes = [1000]\nvalues = [3]\n"
          "ways = [{ fabric = \"ring_1d:2,latency=1us,bandwidth=1GB/s\", algorithm = \"ring\" }]\n"
          "[[series]]\nid = \"c\"\nbytes = [1000]\nvalues = [50]\nmetric = \"gain\"\n"
          "ways = [{ fabric = \"ring_1d:2,latency=1us,bandwidth=1GB/s\", algorithm = \"recursive_doubling\" }]\n"
          "baselines = [{ fabric = \"ring_1d:2,latency=1us,bandwidth=1GB/s\", algorithm = \"ring\" }]\n"
          "[[series]]\nid = \"d\"\nbytes = \"250,500,1000,2000,4000\"\nvalues = [1000]\nmetric = \"crossover\"\n"
          "ways = [{ fabric = \"ring_1d:2,latency=1us,bandwidth=1GB/s\", algorithm = \"recursive_doubling\" }]\n"
          "baselines = [{ fabric = \"ring_1d:2,latency=1us,bandwidth=1GB/s\", algorithm = \"ring\" }]\n",
      "f.toml");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  const Result<std::vector<Compared>> all = compare(*read, {}, nullptr);
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  ASSERT_EQ(all->size(), 4U);
  EXPECT_NEAR(*(*all)[0].simulated, 2, 1e-9);
  EXPECT_EQ((*all)[0].best, "recursive_doubling");
  EXPECT_NEAR((*all)[0].error(), -0.2, 1e-9);
  EXPECT_NEAR(*(*all)[1].simulated, 3, 1e-9);
  EXPECT_NEAR(*(*all)[2].simulated, 50, 1e-9);
  // 1 us and n ns beside 2 us and n ns: a gain at any size.
  const auto of_all = [](const Compared&) { return true; };
  const Score times = score(*all, Metric::time, of_all);
  EXPECT_EQ(times.cells, 2U);
  EXPECT_EQ(times.contests, 1U);
  EXPECT_EQ(times.winners, 1U);
  EXPECT_EQ(times.orders, 1U);
  EXPECT_NEAR(times.median_error, 0.1, 1e-9);
  EXPECT_NEAR(score(*all, Metric::crossover, of_all).greatest_error, 2, 1e-9);
}

}  // namespace
}  // namespace tutti::simulate
