// SPDX-License-Identifier: Apache-2.0
// The tables of other benchmarks, in the layouts of their versions; the numbers are made up.
#include <string>

#include <gtest/gtest.h>

#include "bench/outputs/readers.hpp"
#include "bench/outputs/words.hpp"
#include "find.hpp"

namespace tutti::harness {
namespace {

using testing::value_of;

std::string with_windows_ends(std::string text) {
  for (std::size_t place = 0; (place = text.find('\n', place)) != std::string::npos; place += 2)
    text.replace(place, 1, "\r\n");
  return text;
}

// --- nccl-tests

const std::string kNcclTests =
    "# nThread 1 nGpus 4 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid   4242 on     node-a device  0 [0x1b] Example GPU\n"
    "#  Rank  1 Group  0 Pid   4242 on     node-a device  1 [0x3c] Example GPU\n"
    "node-a:4242:4250 [0] NCCL INFO Bootstrap: Using eth0\n"
    "#\n"
    "#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
    "           8             2     float     sum      -1    12.34    0.00    0.00      0    11.90    0.00    0.00   "
    "   0\n"
    "     1048576        262144     int32    prod       3    52.10   20.13   20.13      7    51.00   20.56   20.56    "
    "N/A\n"
    "# Out of bounds values : 7 FAILED\n"
    "# Avg bus bandwidth    : 10.1725\n"
    "#\n"
    "# Collective test concluded: all_reduce_perf\n";

TEST(NcclTests, EveryColumnIsRead) {
  const Output output = read_nccl_tests(kNcclTests);
  EXPECT_EQ(output.format, "nccl-tests");
  EXPECT_EQ(output.program, "all_reduce_perf");
  EXPECT_EQ(output.num_unread, 0U);
  ASSERT_EQ(output.readings.size(), 4U);

  const Reading& first = output.readings[0];
  EXPECT_EQ(first.bytes, 8);
  EXPECT_EQ(first.num_ranks, 2);
  EXPECT_DOUBLE_EQ(first.nanos.value_or(0), 12340);
  EXPECT_EQ(value_of(first, "type"), Value("float"));
  EXPECT_EQ(value_of(first, "op"), Value("sum"));
  EXPECT_EQ(value_of(first, "in_place"), Value(0));
  EXPECT_EQ(value_of(first, "root"), Value("none"));
  EXPECT_TRUE(first.is_checked);
  EXPECT_EQ(first.wrong, "");
  EXPECT_DOUBLE_EQ(first.counters.at("avg_busbw_gbs"), 10.1725);

  const Reading& wrong = output.readings[2];
  EXPECT_EQ(wrong.bytes, 1048576);
  EXPECT_EQ(value_of(wrong, "root"), Value(3));
  EXPECT_EQ(wrong.wrong, "7 values are wrong");
  EXPECT_DOUBLE_EQ(wrong.counters.at("printed_busbw_gbs"), 20.13);

  const Reading& in_place = output.readings[3];
  EXPECT_EQ(value_of(in_place, "in_place"), Value(1));
  EXPECT_DOUBLE_EQ(in_place.nanos.value_or(0), 51000);
  EXPECT_FALSE(in_place.is_checked);
  EXPECT_EQ(in_place.wrong, "");
}

TEST(NcclTests, WindowsLineEndsChangeNothing) {
  const Output output = read_nccl_tests(with_windows_ends(kNcclTests));
  ASSERT_EQ(output.readings.size(), 4U);
  EXPECT_FALSE(output.readings[3].is_checked);
  EXPECT_DOUBLE_EQ(output.readings[3].counters.at("avg_busbw_gbs"), 10.1725);
}

TEST(NcclTests, OlderAndNewerHeadings) {
  // Without roots, with the error in place of #wrong; and with the processor's time and time stamps.
  const Output old = read_nccl_tests(
      "#       size         count      type   redop     time   algbw   busbw     error     time   algbw   busbw  "
      "error\n"
      "        1024           256     float     sum    14.50    0.07    0.10     4e-07    14.10    0.07    0.11  "
      "4e-07\n");
  ASSERT_EQ(old.readings.size(), 2U);
  EXPECT_DOUBLE_EQ(old.readings[1].counters.at("error"), 4e-07);
  EXPECT_FALSE(old.readings[1].is_checked);
  const Output late = read_nccl_tests(
      "#       size         count      type   redop    root  cputime   algbw   busbw  #wrong  timestamp\n"
      "        1024           256      half    none      -1     3.5     0.29    0.29       0  2025-01-02 03:04:05\n");
  ASSERT_EQ(late.readings.size(), 1U);
  EXPECT_EQ(late.readings[0].remark, "time of the processor");
  EXPECT_EQ(value_of(late.readings[0], "op"), Value("none"));
}

TEST(NcclTests, AFailedTableWithoutCulpritIsWrongAsAWhole) {
  std::string text = kNcclTests;
  text.replace(text.find("20.13      7"), 12, "20.13    N/A");
  const Output output = read_nccl_tests(text);
  ASSERT_EQ(output.readings.size(), 4U);
  for (const Reading& reading : output.readings)
    EXPECT_EQ(reading.wrong, "the table has values out of bounds: 7 FAILED");
}

TEST(NcclTests, WhatIsNoTimeIsSaid) {
  const std::string heading = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
  for (const char* time : {"nan", "inf", "-1.5", "0.00", "1e400", "12,5", "abc"}) {
    const Output output = read_nccl_tests(heading + " 8 2 float sum -1 " + time + " 0.00 0.00 0\n");
    ASSERT_EQ(output.readings.size(), 1U) << time;
    EXPECT_FALSE(output.readings[0].nanos) << time;
    EXPECT_NE(output.readings[0].problem.find(time), std::string::npos) << output.readings[0].problem;
  }
  const Output bandwidths = read_nccl_tests(heading + " 8 2 float sum -1 5.0 nan inf nan\n");
  ASSERT_EQ(bandwidths.readings.size(), 1U);
  EXPECT_TRUE(bandwidths.readings[0].counters.empty());
  EXPECT_EQ(bandwidths.readings[0].wrong, "nan values are wrong");
}

TEST(NcclTests, HugeNumbersAreNoRow) {
  const std::string heading = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
  const Output output =
      read_nccl_tests(heading + " 99999999999999999999 2 float sum -1 5.0 0 0 0\n -8 2 float sum -1 5.0 0 0 0\n");
  EXPECT_TRUE(output.readings.empty());
  EXPECT_EQ(output.num_unread, 2U);
}

TEST(NcclTests, CutOffAnywhereNothingIsMadeUp) {
  const Output whole = read_nccl_tests(kNcclTests);
  const auto read_as = parse_read_as("nccl-tests", "");
  ASSERT_TRUE(read_as.ok());
  for (std::size_t size = 0; size < kNcclTests.size(); ++size) {
    const Output output = read_as->read(std::string_view(kNcclTests).substr(0, size));
    ASSERT_LE(output.readings.size(), whole.readings.size());
    for (std::size_t row = 0; row < output.readings.size(); ++row) {
      const bool is_same = output.readings[row].nanos == whole.readings[row].nanos;
      EXPECT_TRUE(is_same || !output.readings[row].remark.empty()) << size;
    }
  }
  // In the midst of a row.
  EXPECT_EQ(read_nccl_tests(kNcclTests.substr(0, kNcclTests.find("int32"))).num_unread, 1U);
  EXPECT_EQ(read_nccl_tests(kNcclTests.substr(0, kNcclTests.find("262144"))).num_unread, 1U);
}

// --- OSU

TEST(Osu, LatencyWithAndWithoutAllColumns) {
  const Output brief = read_osu(
      "\n# OSU MPI Allreduce Latency Test v7.5\n# Datatype: MPI_FLOAT.\n# Size       Avg Latency(us)\n"
      "4                       1.34\n1048576               230.90\n");
  EXPECT_EQ(brief.format, "osu");
  ASSERT_EQ(brief.readings.size(), 2U);
  EXPECT_EQ(brief.readings[1].benchmark, "Allreduce Latency");
  EXPECT_EQ(brief.readings[1].bytes, 1048576);
  EXPECT_TRUE(brief.readings[1].bytes_are_per_rank);
  EXPECT_DOUBLE_EQ(brief.readings[1].nanos.value_or(0), 230900);
  EXPECT_EQ(value_of(brief.readings[1], "type"), Value("MPI_FLOAT"));

  const Output full = read_osu(
      "# OSU MPI Allgather Latency Test v5.9\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
      "8                       2.50              2.25              2.75        1000\n"
      "\n"
      "# OSU MPI Barrier Latency Test v5.9\n"
      "# Avg Latency(us)\n"
      "            12.57\n");
  ASSERT_EQ(full.readings.size(), 2U);
  EXPECT_DOUBLE_EQ(full.readings[0].counters.at("min_latency_us"), 2.25);
  EXPECT_DOUBLE_EQ(full.readings[0].counters.at("max_latency_us"), 2.75);
  EXPECT_DOUBLE_EQ(full.readings[0].counters.at("iterations"), 1000);
  EXPECT_EQ(full.readings[1].benchmark, "Barrier Latency");
  EXPECT_FALSE(full.readings[1].bytes);
  EXPECT_DOUBLE_EQ(full.readings[1].nanos.value_or(0), 12570);
}

TEST(Osu, BandwidthIsTheInverseOfAMessagesTime) {
  const Output output = read_osu(
      "# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n1                       2.00\n4096                 "
      "4096.00\n"
      "0                       0.00\n"
      "# OSU MPI Multiple Bandwidth / Message Rate Test v5.8\n# [ pairs: 1 ] [ window size: 64 ]\n"
      "# Size                  MB/s        Messages/s\n8                      16.00        2000000.00\n");
  ASSERT_EQ(output.readings.size(), 4U);
  EXPECT_DOUBLE_EQ(output.readings[0].nanos.value_or(0), 500);
  EXPECT_DOUBLE_EQ(output.readings[1].nanos.value_or(0), 1000);
  EXPECT_NE(output.readings[1].remark, "");
  EXPECT_FALSE(output.readings[2].nanos);
  EXPECT_NE(output.readings[2].problem, "");
  EXPECT_EQ(output.readings[3].benchmark, "Multiple Bandwidth / Message Rate");
  EXPECT_DOUBLE_EQ(output.readings[3].counters.at("messages_per_s"), 2e6);
}

TEST(Osu, ValidationAndNonBlocking) {
  const Output output = read_osu(
      "# OSU MPI Non-blocking Allreduce Latency Test v7.0\r\n"
      "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)        Validation\r\n"
      "16                      9.50              4.00              4.25             35.00              Pass\r\n"
      "32                      9.75              4.00              4.50             34.00              Fail\r\n");
  ASSERT_EQ(output.readings.size(), 2U);
  EXPECT_DOUBLE_EQ(output.readings[0].nanos.value_or(0), 9500);
  EXPECT_DOUBLE_EQ(output.readings[0].counters.at("overlap_percent"), 35);
  EXPECT_DOUBLE_EQ(output.readings[0].counters.at("pure_comm_us"), 4.25);
  EXPECT_TRUE(output.readings[0].is_checked);
  EXPECT_EQ(output.readings[0].wrong, "");
  EXPECT_EQ(output.readings[1].wrong, "its validation says Fail");
}

TEST(Osu, CutOffRowsAreCounted) {
  const Output output =
      read_osu("# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n0  0.50\n4\n8 1.0 2.0\nreal\t0m7.9s\n");
  EXPECT_EQ(output.readings.size(), 1U);
  EXPECT_EQ(output.num_unread, 2U);
  EXPECT_EQ(output.first_unread, "'4'");
}

// --- Intel MPI Benchmarks

TEST(Imb, SeveralBenchmarksAndNumbersOfProcesses) {
  const Output output = read_imb(
      "#------------------------------------------------------------\n"
      "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n"
      "#----------------------------------------------------------------\n"
      "# Benchmarking Allreduce \n# #processes = 2 \n# ( 2 additional processes waiting in MPI_Barrier)\n"
      "#----------------------------------------------------------------\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "            0         1000         0.03         0.05         0.04\n"
      "         1024         1000         1.50         2.50         2.00\n"
      "# Benchmarking PingPong \n# #processes = 2 \n"
      "       #bytes #repetitions      t[usec]   Mbytes/sec      defects\n"
      "         4096         1000         2.00      2048.00         0.00\n"
      "      4194304           10       900.00      4660.34         3.00\n"
      "# Benchmarking Barrier \n# ( #processes = 4 ) \n"
      " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "         1000         7.00         9.00         8.00\n"
      "# All processes entering MPI_Finalize\n");
  EXPECT_EQ(output.format, "imb");
  EXPECT_EQ(output.num_unread, 0U);
  ASSERT_EQ(output.readings.size(), 5U);
  const Reading& all_reduce = output.readings[1];
  EXPECT_EQ(all_reduce.benchmark, "Allreduce");
  EXPECT_EQ(all_reduce.num_ranks, 2);
  EXPECT_EQ(all_reduce.bytes, 1024);
  EXPECT_DOUBLE_EQ(all_reduce.nanos.value_or(0), 2000);
  EXPECT_DOUBLE_EQ(all_reduce.counters.at("t_max_usec"), 2.5);
  EXPECT_DOUBLE_EQ(all_reduce.counters.at("repetitions"), 1000);
  EXPECT_TRUE(output.readings[2].is_checked);
  EXPECT_EQ(output.readings[2].wrong, "");
  EXPECT_NE(output.readings[3].wrong, "");
  EXPECT_DOUBLE_EQ(output.readings[3].counters.at("mbytes_per_sec"), 4660.34);
  const Reading& barrier = output.readings[4];
  EXPECT_EQ(barrier.num_ranks, 4);
  EXPECT_FALSE(barrier.bytes);
  EXPECT_DOUBLE_EQ(barrier.nanos.value_or(0), 8000);
}

TEST(Imb, RowsThatItCouldNotMeasureKeepTheirSizeAndRanks) {
  const Output output = read_imb(
      "# Benchmarking Alltoall\n# #processes = 64\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "         1024         1000         1.50         2.50         2.00\n"
      "      2097152 out-of-mem.; needed X=    0.250 GB; use flag \"-mem X\" or MAX_MEM_USAGE>=X\n"
      "      4194304           1\n"
      "      8388608 time-out.; Time limit is over; use \"-time X\" to increase time limit.\n");
  ASSERT_EQ(output.readings.size(), 3U);
  const Reading& refused = output.readings[1];
  EXPECT_EQ(refused.bytes, 2097152);
  EXPECT_EQ(refused.num_ranks, 64);
  EXPECT_EQ(refused.benchmark, "Alltoall");
  EXPECT_EQ(refused.nanos, std::nullopt);
  EXPECT_NE(refused.problem.find("out-of-mem.; needed X="), std::string::npos) << refused.problem;
  EXPECT_EQ(output.readings[2].bytes, 8388608);
  EXPECT_NE(output.readings[2].problem.find("time-out"), std::string::npos) << output.readings[2].problem;
  EXPECT_EQ(output.num_unread, 1U) << "half a row";
}

// --- all of them

TEST(ReadAs, AutoFindsTheFormat) {
  const auto read_as = parse_read_as("auto", "");
  ASSERT_TRUE(read_as.ok());
  EXPECT_FALSE(read_as->is_forced);
  EXPECT_EQ(read_as->read(kNcclTests).format, "nccl-tests");
  EXPECT_EQ(read_as->read("# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n0  0.50\n").format, "osu");
  EXPECT_EQ(read_as->read("#bytes #repetitions t[usec]\n8 10 1.5\n").format, "imb");
  EXPECT_FALSE(read_as->read("8 2 12.5\nall done in 3 s\n").is_recognised());
}

TEST(ReadAs, NamesAndTheirMistakes) {
  EXPECT_EQ(parse_read_as("wall", "")->read, nullptr);
  EXPECT_TRUE(parse_read_as("NCCL_tests", "")->is_forced);
  for (const char* text : {"", "xml", "regex", "nccl"}) EXPECT_FALSE(parse_read_as(text, "").ok()) << text;
  EXPECT_NE(parse_read_as("osu", "time_us").status().to_string().find("is for --read json"), std::string::npos);
}

TEST(ReadAs, GarbageIsNothing) {
  std::string garbage;
  for (int byte = 0; byte < 256; ++byte) garbage += static_cast<char>(byte);
  for (const char* name : {"auto", "nccl-tests", "osu", "imb", "json", "regex:(?<time_s>[0-9]+)x"}) {
    const auto read_as = parse_read_as(name, "");
    ASSERT_TRUE(read_as.ok()) << name;
    for (const std::string& text :
         {std::string(), std::string("\n"), std::string("#\n# size\n# OSU\n#bytes\n"), garbage,
          std::string(100'000, '#'), std::string(100'000, '['), std::string(1000, '\0')}) {
      EXPECT_TRUE(read_as->read(text).readings.empty()) << name;
    }
  }
}

TEST(Text, PartsOfLines) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(words_of("  a \t b  "), (Parts{"a", "b"}));
  EXPECT_EQ(columns_of(" Size       Avg Latency(us)\tP50 Tail Lat(us) "),
            (Parts{"Size", "Avg Latency(us)", "P50 Tail Lat(us)"}));
  EXPECT_EQ(words_of(" \t"), Parts{});
  EXPECT_EQ(lines_of("a\r\n\nb"), (Parts{"a", "", "b"}));
  EXPECT_EQ(counter_name("P50 Tail Lat(us)"), "p50_tail_lat_us");
  EXPECT_EQ(counter_name("Messages/s"), "messages_per_s");
  EXPECT_EQ(counter_name("(%)"), "percent");
}

}  // namespace
}  // namespace tutti::harness
