// SPDX-License-Identifier: Apache-2.0
// Results for commands about tables, of each kind.
#include "cli/tune/results/results_input.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"
#include "../calling.hpp"
#include "bench/store/store.hpp"
#include "cli/tune/results/csv.hpp"

namespace tutti::cli {
namespace {

ReadResults read_text(std::string_view text) {
  const Result<ReadResults> read = results_of_csv(text, "times.csv");
  EXPECT_TRUE(read.ok()) << read.status().to_string();
  return read.ok() ? *read : ReadResults();
}

std::string error_in(std::string_view text) {
  const Result<ReadResults> read = results_of_csv(text, "times.csv");
  EXPECT_FALSE(read.ok());
  return read.status().to_string();
}

TEST(Csv, FieldsMayBeQuotedAndSpanLines) {
  const Result<std::vector<CsvRow>> rows = read_csv("# about\na, b\r\n\n\"x,\"\"y\"\"\n z\",2\n,\n");
  ASSERT_TRUE(rows.ok()) << rows.status().to_string();
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ((*rows)[0].fields, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ((*rows)[1].fields, (std::vector<std::string>{"x,\"y\"\n z", "2"}));
  EXPECT_EQ((*rows)[1].line, 4U);
  EXPECT_EQ((*rows)[2].fields, (std::vector<std::string>{"", ""}));
  EXPECT_EQ((*rows)[2].line, 6U);
  EXPECT_EQ(read_csv("a\n\"b").status().message(), "line 2: a quoted field does not end");
  EXPECT_EQ(read_csv("\"b\" c\n").status().message(), "line 1: text stands behind a quoted field");
}

TEST(CsvResults, APublishedTableHasAColumnForEachWay) {
  const ReadResults read =
      read_text("gpu,ranks,rows,dtype,bytes,ring_ms,tree_ms,best\nH100,6,32,bfloat16,512K,0.013,-,ring\n");
  ASSERT_EQ(read.timings.size(), 1U);
  const tune::Timing& timing = read.timings[0];
  EXPECT_EQ(timing.machine, "H100");
  EXPECT_EQ(timing.key, (tune::CaseKey{.ranks = 6, .types = TypeClass::narrow}));
  EXPECT_EQ(timing.bytes, 524288U);
  EXPECT_EQ(timing.time.way.algorithm, "ring");
  EXPECT_DOUBLE_EQ(timing.time.us, 13);
  ASSERT_EQ(read.left_out.size(), 3U);
  EXPECT_EQ(read.left_out[1], "columns: rows, best");
  EXPECT_EQ(read.left_out[2], "1 time: it is empty");
}

TEST(CsvResults, OurOwnTablesHaveATimeARowWithItsIntervalAndSettings) {
  const ReadResults read = read_text(
      "bench,peer,ranks,OMPI_MCA_x,algorithm,bytes,type,time_us,mean_us,samples,check,low_us,high_us,version\n"
      "all_gather,openmpi,2,4,ring,8,f32,0.5,0.6,20,ok,0.4,0.6,1\n"
      "all_gather,openmpi,2,unset,default,8,f32,0.7,0.8,20,ok,,,1\n"
      "all_gather,openmpi,2,4,tree,8,f32,0.1,0.8,20,wrong,,,1\n"
      "my_bench,openmpi,2,4,tree,8,f32,0.1,0.8,20,ok,,,1\n");
  ASSERT_EQ(read.timings.size(), 2U);
  EXPECT_EQ(read.timings[0].peer, "openmpi");
  EXPECT_EQ(read.timings[0].key,
            (tune::CaseKey{.collective = Collective::all_gather, .ranks = 2, .types = TypeClass::plain}));
  EXPECT_EQ(read.timings[0].time.way.to_string(), "ring [OMPI_MCA_x=4]");
  EXPECT_EQ(read.timings[0].time.us, 0.5);
  EXPECT_EQ(read.timings[0].time.low_us, 0.4);
  EXPECT_EQ(read.timings[0].time.high_us, 0.6);
  EXPECT_EQ(read.timings[0].time.samples, 20U);
  EXPECT_EQ(read.timings[1].time.way.to_string(), "the default");
  EXPECT_EQ(read.timings[1].time.high_us, 0);
  EXPECT_EQ(read.left_out,
            (std::vector<std::string>{"1 time: 'my_bench' is no collective", "1 time: its check is wrong"}));
}

TEST(CsvResults, MistakesNameTheLineAndTheColumn) {
  EXPECT_TRUE(contains(error_in("bytes,algorithm,time_us\n8,a,1\n"), "no column says the number of ranks"));
  EXPECT_TRUE(contains(error_in("ranks,bytes,algorithm\n2,8,a\n"), "no column has times"));
  EXPECT_TRUE(contains(error_in("ranks,bytes,time_us\n2,8,1\n"), "no column says whose time it is"));
  EXPECT_TRUE(contains(error_in("ranks,bytes,a_us\n2,8\n"), "times.csv, line 2: 2 fields for 3 columns"));
  EXPECT_TRUE(contains(error_in("ranks,bytes,a_us\n0,8,1\n"), "line 2: ranks is '0'"));
  EXPECT_TRUE(contains(error_in("ranks,bytes,a_us\n2,many,1\n"), "bytes is 'many'; it takes bytes"));
  EXPECT_TRUE(contains(error_in("ranks,bytes,a_us\n2,8,-1\n"), "a_us is '-1'; it takes a time above 0"));
  EXPECT_TRUE(contains(error_in("ranks,bytes,a_us\n"), "has no results"));
}

TEST(ReferenceResults, HaveTheirMachineRanksAndWaysByTheirNames) {
  const Result<ReadResults> read = read_results("vllm-all-reduce", "", Environment());
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  ASSERT_EQ(read->timings.size(), 200U);
  const tune::Timing& timing = read->timings[50];
  EXPECT_EQ(timing.machine, "h100");
  EXPECT_EQ(timing.key, (tune::CaseKey{.ranks = 6, .types = TypeClass::narrow}));
  EXPECT_EQ(timing.time.way.algorithm, "ca_1stage");
  EXPECT_DOUBLE_EQ(timing.time.us, 13);
  EXPECT_DOUBLE_EQ(timing.time.low_us, 12.5);
  EXPECT_TRUE(read->references);
}

TEST(ReferenceResults, AreNamedAfterTheirFabricWhereTheirGroupSaysNothing) {
  simulate::Series series;
  series.id = "some";
  EXPECT_FALSE(names_of(series));
  series.ways.push_back({.fabric = "torus_2d:2x3,latency=1us", .algorithm = "ring"});
  const std::optional<SeriesNames> names = names_of(series);
  ASSERT_TRUE(names);
  EXPECT_EQ(names->machine, "torus_2d");
  EXPECT_EQ(names->ranks, 6U);
  EXPECT_EQ(names->way, "ring");
}

harness::Row row_of(const char* bench, const char* peer, const char* algorithm, double nanos) {
  harness::Row row;
  row.bench = bench;
  row.peer = peer;
  row.num_ranks = 4;
  row.point.values = {{"algorithm", algorithm}, {"bytes", 4096}, {"type", "f32"}};
  row.samples = {nanos, nanos, nanos};
  return row;
}

TEST(RunResults, AreTheGoodRowsOfCollectives) {
  std::vector<harness::Row> rows = {row_of("all_reduce", "tutti", "ring", 1500), row_of("sleep", "tutti", "ring", 1),
                                    row_of("all_reduce", "tutti", "tree", 1)};
  rows[2].outcome = harness::Outcome::wrong;
  const ReadResults read = results_of_rows(rows, "run 7");
  ASSERT_EQ(read.timings.size(), 1U);
  EXPECT_EQ(read.timings[0].key, (tune::CaseKey{.ranks = 4, .types = TypeClass::plain}));
  EXPECT_EQ(read.timings[0].bytes, 4096U);
  EXPECT_EQ(read.timings[0].time.us, 1.5);
  EXPECT_EQ(read.what, "run 7: 1 time");
  EXPECT_EQ(read.left_out, (std::vector<std::string>{"1 row: sleep is no collective", "1 row: the outcome is wrong"}));
}

TEST(RunResults, AreFoundInTheStore) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("results.db");
  {
    Result<harness::Store> store = harness::Store::open(path);
    ASSERT_TRUE(store.ok());
    harness::StoredRun begun;
    begun.bench = "all_reduce";
    begun.name = "nightly";
    const Result<std::int64_t> run = store->begin(begun);
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    ASSERT_TRUE(store->add(*run, row_of("all_reduce", "tutti", "ring", 1500)).ok());
    ASSERT_TRUE(store->complete(*run).ok());
  }
  for (const char* name : {"last", "1", "nightly"}) {
    const Result<ReadResults> read = read_results(name, path, Environment());
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(read->timings.size(), 1U);
    EXPECT_EQ(read->run, "1");
  }
  EXPECT_TRUE(contains(read_results("weekly", path, Environment()).status().to_string(), "'weekly' is no run"));
  const Status of_file = read_results(path, "", Environment()).status();
  EXPECT_TRUE(contains(of_file.to_string(), "is a store; write --store")) << of_file.to_string();
}

TEST(Peers, TheTablesCountsOrTheOnlyOneOrTheOneThatIsAskedFor) {
  const std::vector<harness::Row> rows = {row_of("all_reduce", "tutti", "ring", 1),
                                          row_of("all_reduce", "openmpi", "a", 1)};
  const auto kept = [&](const char* asked, const char* preferred, std::size_t count) {
    ReadResults read = results_of_rows(std::span(rows).first(count), "run");
    const Status done = keep_peer(read, asked, preferred);
    if (!done.ok()) return done.to_string();
    return read.timings.size() == 1 ? read.timings[0].peer : std::string("several");
  };
  EXPECT_EQ(kept("", "openmpi", 2), "openmpi");
  EXPECT_EQ(kept("tutti", "openmpi", 2), "tutti");
  EXPECT_EQ(kept("", "vllm", 1), "tutti");
  EXPECT_EQ(kept("", "", 2), "the results have ways of tutti, openmpi; --peer says whose count");
  EXPECT_EQ(kept("nccl", "", 2), "--peer: 'nccl' is not in the results, which have tutti, openmpi");
}

}  // namespace
}  // namespace tutti::cli
