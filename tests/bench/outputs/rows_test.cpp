// SPDX-License-Identifier: Apache-2.0
// Rows from outputs, launches as samples, and rows in the layout of nccl-tests.
#include "bench/outputs/rows.hpp"

#include <string>

#include <gtest/gtest.h>

#include "bench/outputs/evidence.hpp"
#include "bench/outputs/nccl_tests_layout.hpp"
#include "bench/outputs/readers.hpp"
#include "bench/process/command_runner.hpp"

namespace tutti::harness {
namespace {

Row frame_of(const std::string& bench, int num_ranks = 0) {
  Row frame;
  frame.bench = bench;
  frame.peer = "command";
  frame.num_ranks = num_ranks;
  return frame;
}

Output output_of(std::vector<Reading> readings) {
  Output output;
  output.format = "regex";
  output.readings = std::move(readings);
  return output;
}

TEST(OutputRows, ProgramsAreNamedForCollectives) {
  EXPECT_EQ(traffic_named("all_reduce_perf"), Traffic::all_reduce);
  EXPECT_EQ(traffic_named("osu_allgatherv"), Traffic::all_gather);
  EXPECT_EQ(traffic_named("Reduce_scatter_block"), Traffic::reduce_scatter);
  EXPECT_EQ(traffic_named("reduce_perf"), Traffic::reduce);
  EXPECT_EQ(traffic_named("Bcast"), Traffic::broadcast);
  EXPECT_EQ(traffic_named("alltoall_perf"), Traffic::all_to_all);
  EXPECT_EQ(traffic_named("Barrier Latency"), std::nullopt);
}

TEST(OutputRows, MessagesAreCountedAsTuttiDoes) {
  Reading reading{.bytes = 1024, .nanos = 1000};
  EXPECT_EQ(rows_of(output_of({reading}), frame_of("all_gather_perf", 4), "")[0].message->bytes, 1024);
  reading.bytes_are_per_rank = true;
  EXPECT_EQ(rows_of(output_of({reading}), frame_of("osu_allgather", 4), "")[0].message->bytes, 4096);
  EXPECT_EQ(rows_of(output_of({reading}), frame_of("osu_allreduce", 4), "")[0].message->bytes, 1024);
  EXPECT_FALSE(rows_of(output_of({reading}), frame_of("osu_allgather"), "")[0].message);
  const Row other = rows_of(output_of({reading}), frame_of("copy"), "")[0];
  EXPECT_FALSE(other.message);
  EXPECT_EQ(other.bytes, 1024);
}

TEST(OutputRows, AxesComeFirstAndNoTwoRowsAreAlike) {
  Row frame = frame_of("copy", 4);
  frame.point.values = {{"bytes", 8}, {"n", 2}};
  Reading same{.bytes = 8, .nanos = 1};
  Reading other{.bytes = 16, .num_ranks = 2, .nanos = 2};
  const std::vector<Row> rows = rows_of(output_of({same, same, other}), frame, "it broke");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(to_string(rows[0].point), "bytes=8, n=2");
  EXPECT_EQ(to_string(rows[1].point), "bytes=8, n=2, nth=2");
  EXPECT_EQ(to_string(rows[2].point), "bytes=8, n=2, started=4, printed_bytes=16");
  EXPECT_EQ(rows[2].num_ranks, 2);
  EXPECT_EQ(to_string(rows[3].point), "bytes=8, n=2, nth=3");
  EXPECT_EQ(rows[3].outcome, Outcome::error);
  EXPECT_EQ(rows[3].note, "it broke");
  EXPECT_EQ(rows[0].sync, Sync::program);
}

TEST(OutputRows, NamesOfAxesAreTaken) {
  Row frame = frame_of("copy");
  frame.point.values = {{"n", 2}, {"m", 3}};
  const Reading reading{
      .values = {{"peer", "p"}, {"kind", "k"}}, .nanos = 1, .counters = {{"n", 2}, {"m", 4}, {"samples", 5}, {"x", 6}}};
  const Row row = rows_of(output_of({reading}), frame, "")[0];
  EXPECT_EQ(to_string(row.point), "n=2, m=3, peer=p, kind=k");
  EXPECT_EQ(row.counters, (std::map<std::string, double>{{"printed_m", 4}, {"samples", 5}, {"x", 6}}));
}

TEST(OutputRows, AProgramMayCallItsOwnFieldsAsOursAreCalled) {
  Group group;
  group.label = "command";
  group.num_ranks = 4;
  Row frame = frame_of("copy", 4);
  const Reading reading{.values = {{"started", "noon"}, {"nth", "last"}}, .nanos = 1};
  Row row = rows_of(output_of({reading}), frame, "")[0];
  EXPECT_EQ(to_string(row.point), "printed_started=noon, printed_nth=last");
  EXPECT_TRUE(is_of(row, group, {}, 0));
  row.point.values = {{"started", "noon"}};
  EXPECT_TRUE(is_of(row, group, {}, 0)) << "as rows were kept before";
}

TEST(OutputRows, WhatIsWrongAndWhatIsMissing) {
  Reading wrong{.nanos = 5, .is_checked = true, .wrong = "3 values are wrong"};
  Reading untimed{.bytes = 8, .problem = "no time"};
  const std::vector<Row> rows = rows_of(output_of({wrong, untimed}), frame_of("x"), "");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].outcome, Outcome::wrong);
  EXPECT_EQ(rows[0].samples, std::vector<double>{5});
  EXPECT_EQ(rows[1].outcome, Outcome::error);
  EXPECT_TRUE(rows[1].samples.empty());
  EXPECT_EQ(rows_of(Output(), frame_of("x"), "").at(0).note, "nothing in the output is recognised");
  EXPECT_EQ(rows_of(output_of({}), frame_of("x"), "").at(0).note, "the table of regex has no row");
  Output cut = output_of({Reading{.nanos = 1}});
  cut.note_unread("  12  ");
  EXPECT_NE(rows_of(cut, frame_of("x"), "").at(1).note.find("1 of its lines stands"), std::string::npos);
}

TEST(OutputRows, TheLogOfNcclIsEvidence) {
  const auto evidence = evidence_in(
      "a NCCL INFO NCCL_A set by environment to 32.\nNCCL_B set by environment to 321\n"
      "a NCCL INFO OF_NCCL_C set by environment to 1.\na NCCL INFO Invalid value x for NCCL_D, using default 4.\n"
      "a NCCL INFO NCCL_E set by environment to 5.\n",
      {{"NCCL_A", "32"}, {"NCCL_B", "32"}, {"NCCL_C", "1"}, {"NCCL_D", "x"}, {"NCCL_E", std::nullopt}});
  EXPECT_EQ(evidence.at("NCCL_A").obeyed, State::Obeyed::confirmed);
  EXPECT_EQ(evidence.at("NCCL_B").obeyed, State::Obeyed::ignored);
  EXPECT_EQ(evidence.at("NCCL_C").obeyed, State::Obeyed::unverifiable);
  EXPECT_EQ(evidence.at("NCCL_D").obeyed, State::Obeyed::ignored);
  EXPECT_EQ(evidence.at("NCCL_E").obeyed, State::Obeyed::ignored);
}

TEST(OutputRows, WhatWasMeasuredWithoutTheVariableIsAnError) {
  Row frame = frame_of("copy");
  frame.evidence = {{"A", {State::Obeyed::confirmed, ""}}, {"B", {State::Obeyed::ignored, "it is 3"}}};
  const Row row = rows_of(output_of({Reading{.nanos = 1}}), frame, "")[0];
  EXPECT_EQ(row.outcome, Outcome::error);
  EXPECT_EQ(row.note, "B was ignored: it is 3");
}

Row collective_row(std::int64_t bytes, int in_place, double nanos) {
  Row row = frame_of("all_reduce", 4);
  row.peer = "openmpi";
  row.point.values = {{"bytes", bytes}, {"type", "f32"}, {"op", "sum"}, {"in_place", in_place}};
  row.message = {static_cast<double>(bytes), Traffic::all_reduce};
  row.samples = {nanos};
  row.is_checked = true;
  return row;
}

TEST(NcclTestsLayout, ItsReaderReadsItBack) {
  std::vector<Row> rows = {collective_row(8, 0, 12340), collective_row(8, 1, 9870),
                           collective_row(1 << 20, 1, 123456789)};
  rows.push_back(collective_row(64, 0, 1));
  rows.back().settings = {{"A", "1"}};
  rows.back().outcome = Outcome::wrong;
  const NcclTestsLayout layout = in_nccl_tests_layout(rows);
  EXPECT_TRUE(layout.left_out.empty());
  EXPECT_NE(layout.text.find("# bench all_reduce, peer openmpi, 4 ranks, A=1\n"), std::string::npos) << layout.text;
  EXPECT_NE(layout.text.find(
                "           8             2     float     sum      -1    12.34    0.00    0.00       0     9.87"),
            std::string::npos)
      << layout.text;
  const Output output = read_nccl_tests(layout.text);
  EXPECT_EQ(output.program, "all_reduce");
  EXPECT_EQ(output.num_unread, 0U) << output.first_unread;
  ASSERT_EQ(output.readings.size(), 4U);
  EXPECT_DOUBLE_EQ(output.readings[0].nanos.value_or(0), 12340);
  EXPECT_DOUBLE_EQ(output.readings[1].nanos.value_or(0), 9870);
  EXPECT_DOUBLE_EQ(output.readings[2].nanos.value_or(0), 123457000);
  EXPECT_EQ(output.readings[2].bytes, 1 << 20);
  EXPECT_NE(output.readings[3].wrong, "");
}

TEST(NcclTestsLayout, SizesAreThoseOfAllRanksAndCountsThoseOfOne) {
  Row row = collective_row(1000, 0, 1000);
  row.message = {4000, Traffic::all_gather};
  EXPECT_NE(in_nccl_tests_layout({row}).text.find(
                "\n        4000           250     float     sum      -1     1.00    4.00    3.00"),
            std::string::npos);
  row.num_ranks = 0;
  EXPECT_NE(in_nccl_tests_layout({row}).text.find("\n        4000          1000     float"), std::string::npos)
      << "how many ranks share it is not known";
}

TEST(NcclTestsLayout, HasNcclTestsNamesOfWhatMpiCallsOtherwise) {
  const Output output = read_osu(
      "# OSU MPI Allreduce Latency Test v7.1\n# Datatype: MPI_FLOAT.\n# Size       Avg Latency(us)\n4     1.50\n");
  ASSERT_EQ(output.readings.size(), 1U);
  const std::vector<Row> rows = rows_of(output, frame_of("osu_allreduce", 2), "");
  const std::string text = in_nccl_tests_layout(rows).text;
  EXPECT_NE(text.find("\n           4             1     float    none      -1     1.50"), std::string::npos) << text;
  Row named = collective_row(8, 0, 12340);
  named.point.values = {{"bytes", 8}, {"type", "MPI_DOUBLE"}, {"op", "product"}};
  const std::string other = in_nccl_tests_layout({named}).text;
  EXPECT_NE(other.find("\n           8             1    double    prod"), std::string::npos) << other;
}

TEST(NcclTestsLayout, WhatHasNoPlaceIsTold) {
  Row failed = collective_row(8, 0, 1);
  failed.outcome = Outcome::error;
  Row skipped = collective_row(8, 0, 1);
  skipped.outcome = Outcome::skipped;
  Row sizeless = frame_of("barrier");
  sizeless.samples = {5};
  const NcclTestsLayout layout = in_nccl_tests_layout({failed, failed, skipped, sizeless});
  EXPECT_EQ(layout.text, "");
  EXPECT_EQ(layout.left_out.size(), 3U);
  EXPECT_EQ(layout.left_out[0], "2 rows are not in the layout of nccl-tests: they could not be measured");
}

}  // namespace
}  // namespace tutti::harness
